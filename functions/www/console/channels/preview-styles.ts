/* Fits the widget's styles, which are made for a whole page, into the preview. */

/** Limits the launcher and the window to the size of the preview rather than the page, except on a phone, where the
 * window fills the screen. Animations are off, so nothing moves while settings are edited. */
const PREVIEW_STYLES =
  ":host{position:static!important}.root>.window{animation:none}" +
  ".root>.label{--x:min(var(--offset-x),100% - 56px);--y:min(var(--offset-y),100% - 56px)}" +
  "@media(min-width:481px){.root>.window{--x:min(var(--offset-x),var(--edge));max-width:calc(100% - 2*var(--edge));" +
  "max-height:calc(100% - var(--y) - var(--launcher) - var(--edge))}}";

/** Adapts the widget that was created in an element. */
export function adaptToPreview(stage: Element): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(PREVIEW_STYLES);
  stage.firstElementChild?.shadowRoot?.adoptedStyleSheets.push(sheet);
}
