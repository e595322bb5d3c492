/* The element of the page that contains the widget, with a shadow tree. */

const ELEMENT_NAME = "switchboard-widget";
/** The element that pages of the reference product look for, hide or remove. It contains the host element. */
const REFERENCE_ELEMENT_NAME = "jdiv";
export const REFERENCE_PREFIX = "jivo";
/** The width of the label with a space beside it. */
const SHIFT_PX = 76;
/** Ends a dispute with a page that removes the element again and again. */
const MAX_RETURNS = 100;
/** Composed events that scripts of the page would mistake for input of their own: shortcuts, form validation, and
 * dialogs that keep the focus. */
const PRIVATE_EVENTS = "keydown keypress keyup beforeinput input paste copy cut focusin focusout".split(" ");

export class HostElement {
  readonly shadow: ShadowRoot;
  /** The outermost element. */
  readonly element: HTMLElement;
  readonly #onRemoved: (() => void) | undefined;
  readonly #observer = new MutationObserver((records) => this.#stay(records));
  #returns = 0;

  /** Puts the element into `parent`, or, without a parent, on the page for good. There it is a child of the document
   * element, so that it survives a replaced body, and does not move with a transformed one. With `onRemoved`, it can be
   * found and removed under the name that the reference product uses: `onRemoved` is called when the page has removed
   * it on purpose. */
  constructor(parent?: Element, onRemoved?: () => void) {
    const host = document.createElement(ELEMENT_NAME);
    this.shadow = host.attachShadow({ mode: "open" });
    for (const type of PRIVATE_EVENTS) this.shadow.addEventListener(type, (event) => event.stopPropagation());
    this.element = host;
    this.#onRemoved = onRemoved;
    if (onRemoved) {
      this.element = document.createElement(REFERENCE_ELEMENT_NAME);
      this.element.append(host);
    }
    if (parent) {
      parent.append(this.element);
      return;
    }
    // Another widget of the page, with another prefix, stays visible beside this one.
    const others = document.querySelectorAll(ELEMENT_NAME).length;
    if (others > 0) host.style.setProperty("--shift", `${others * SHIFT_PX}px`);
    this.#attach();
  }

  remove(): void {
    this.#observer.disconnect();
    this.element.remove();
  }

  #attach(): void {
    const root = document.documentElement as Element | null;
    root?.append(this.element);
    // Observe the children only, which hardly ever change. A script can replace the document element too.
    this.#observer.disconnect();
    for (const node of [document, root]) if (node) this.#observer.observe(node, { childList: true });
  }

  #stay(records: MutationRecord[]): void {
    if (this.element.isConnected) return;
    // A script that replaces the page's content removes other elements as well.
    const removed = records.flatMap(({ removedNodes }) => [...removedNodes]);
    if (this.#onRemoved && removed.length === 1 && removed[0] === this.element) return this.#onRemoved();
    if (++this.#returns <= MAX_RETURNS) this.#attach();
  }
}
