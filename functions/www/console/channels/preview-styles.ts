/* Fits the widget's styles, which are made for a whole page, into the preview. */

type Scheme = "light" | "dark";

const DARK_QUERY = "(prefers-color-scheme: dark)";
/** The media queries that replace `DARK_QUERY` to switch the dark rules on or off. The widget's styles contain these
 * queries nowhere else. */
const SWITCHED_QUERIES: Record<Scheme, string> = { dark: "all", light: "not all" };
const THEME_QUERIES = [DARK_QUERY, ...Object.values(SWITCHED_QUERIES)];

/** Limits the chat window to the size of the preview rather than the page, except on a phone, where the window fills
 * the screen. Animations are off, so nothing moves while settings are edited. */
const PREVIEW_STYLES =
  ":host{position:static!important}.root>.window{animation:none}" +
  "@media(min-width:481px){.root>.window{max-width:calc(100% - 2*var(--edge));max-height:calc(100% - 112px)}}";

let previewSheet: CSSStyleSheet | undefined;

/** Adapts the widget below an element. Must be called after each rendering, because a new colour brings new rules. */
export function adaptToPreview(stage: Element, scheme: Scheme): void {
  const shadow = stage.firstElementChild?.shadowRoot;
  if (!shadow) return;
  previewSheet ??= new CSSStyleSheet();
  previewSheet.replaceSync(`${PREVIEW_STYLES}:host{color-scheme:${scheme}!important}`);
  if (!shadow.adoptedStyleSheets.includes(previewSheet)) shadow.adoptedStyleSheets.push(previewSheet);
  for (const sheet of shadow.adoptedStyleSheets)
    for (const rule of sheet.cssRules)
      if (rule instanceof CSSMediaRule && THEME_QUERIES.includes(rule.media.mediaText))
        rule.media.mediaText = SWITCHED_QUERIES[scheme];
}
