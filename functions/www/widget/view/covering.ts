/* What a window that fills the screen does to the page behind it: the page neither scrolls nor takes the focus, and the
   window ends above the on-screen keyboard. */

const FOCUSABLE = "button,a[href],input,select,textarea,video,audio,[tabindex='0']";

/** Returns a function that covers or uncovers the page. */
export function createCovering(host: HTMLElement): (isCovered: boolean) => void {
  const { style } = document.documentElement;
  let overflow: string | undefined;
  let inertElements: HTMLElement[] = [];
  return (isCovered) => {
    if (isCovered === (overflow !== undefined)) return;
    for (const element of inertElements) element.inert = false;
    inertElements = [];
    if (isCovered) {
      overflow = style.overflow;
      style.overflow = "hidden";
      inertElements = [...(host.parentElement?.children ?? [])].filter(
        (element): element is HTMLElement => element !== host && element instanceof HTMLElement && !element.inert,
      );
      for (const element of inertElements) element.inert = true;
    } else {
      style.overflow = overflow ?? "";
      overflow = undefined;
    }
  };
}

/** Moves the focus from one end of the window to the other, because the browser's own elements come after it. */
export function keepFocus(event: KeyboardEvent, window: Element, focused: Element | null): void {
  if (event.key !== "Tab") return;
  const elements = [...window.querySelectorAll<HTMLElement>(FOCUSABLE)];
  const [edge, other] = event.shiftKey ? [elements[0], elements.at(-1)] : [elements.at(-1), elements[0]];
  if (focused !== edge && focused !== window) return;
  event.preventDefault();
  other?.focus();
}

/** Fits the window into the part of the screen that the on-screen keyboard does not cover. */
export function fitViewport(window: HTMLElement | null, isCovering: boolean): void {
  const { visualViewport: viewport } = globalThis;
  if (!window || !viewport) return;
  // A zoomed page is left as it is: the visitor moves across the window.
  const isFitted = isCovering && viewport.scale < 1.01;
  window.style.top = isFitted ? `${viewport.offsetTop}px` : "";
  window.style.bottom = isFitted ? "auto" : "";
  window.style.height = isFitted ? `${viewport.height}px` : "";
}
