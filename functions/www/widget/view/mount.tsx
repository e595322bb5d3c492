/** @jsxImportSource #widget */
/* Puts the widget on the page, in a shadow tree that neither inherits nor changes the page's styles. */

import type { State } from "../state";
import { fill, isRightToLeft } from "../texts/texts";
import { brandStyles } from "./brand-colors";
import type { Actions, Props } from "./props";
import { InvitationBubble } from "./invitation";
import { EmptyWindow } from "./frame";
import { createRenderer, type Child } from "./jsx/jsx-runtime";
import { Label } from "./label";
import styles from "./styles.css";
import type { ChatWindow } from "./window-main";

const ELEMENT_NAME = "switchboard-widget";
const FOCUSABLE = "button,a[href],input,textarea,video,audio,[tabindex='0']";

/** Loads the bundle of the window, unless it is loaded already. */
export type LoadWindow = () => Promise<typeof import("./window-main")>;

/** Whether the window fills the screen. The style sheet contains the same media query. */
export const fillsScreen = (): boolean => matchMedia("(max-width: 480px)").matches;

export class View {
  readonly #host = document.createElement(ELEMENT_NAME);
  readonly #shadow: ShadowRoot;
  readonly #brandSheet = new CSSStyleSheet();
  readonly #renderTree: ReturnType<typeof createRenderer>;
  #brand = "";
  #state: State | undefined;
  #window: ChatWindow | undefined;
  #isLoading = false;
  #hasFailed = false;

  readonly #actions: Actions;
  readonly #loadWindow: LoadWindow;

  constructor(actions: Actions, loadWindow: LoadWindow, parent: Element = document.body) {
    this.#actions = actions;
    this.#loadWindow = loadWindow;
    this.#shadow = this.#host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    // Unlike style elements, adopted style sheets are not restricted by the page's Content-Security-Policy.
    this.#shadow.adoptedStyleSheets = [sheet, this.#brandSheet];
    this.#shadow.addEventListener("keydown", (event) => this.#keepFocus(event as KeyboardEvent));
    this.#renderTree = createRenderer(this.#shadow);
    parent.append(this.#host);
  }

  render(state: State): void {
    this.#setColors(state.settings.color, state.settings.color2);
    this.#state = state;
    if (state.isOpen && !this.#hasFailed) this.#load();
    else if (!this.#window && (state.isInvitationOutside || state.unread > 0 || state.conversation.isChatOpen))
      whenIdle(this.#load);
    const finish = this.#window?.prepare(state);
    const hadFocus = this.#shadow.activeElement !== null;
    const actions = this.#actions;
    const window =
      state.isOpen &&
      (this.#window?.render(state) ?? (
        <EmptyWindow state={state} actions={actions} hasFailed={this.#hasFailed} retry={this.#load} />
      ));
    this.#renderTree(<Root state={state} actions={actions} window={window} prepare={this.#load} />);
    // The focused element was removed, for example together with a submitted form.
    if (hadFocus && this.#shadow.activeElement === null) this.focusWindow();
    finish?.();
  }

  /** Loads the window's code, unless it is loaded already. */
  readonly #load = (): void => {
    if (this.#window || this.#isLoading) return;
    this.#isLoading = true;
    if (this.#hasFailed) {
      this.#hasFailed = false;
      if (this.#state) this.render(this.#state);
    }
    const rerender = (window?: ChatWindow) => {
      this.#isLoading = false;
      this.#window = window;
      this.#hasFailed = !window;
      if (!this.#state?.isOpen) return;
      const isFocused = this.#shadow.activeElement?.matches(".window") ?? false;
      this.render(this.#state);
      if (isFocused) this.focusWindow();
    };
    this.#loadWindow().then(
      ({ createWindow }) => rerender(createWindow(this.#shadow, this.#actions)),
      () => rerender(),
    );
  };

  /** Moves the focus to the first text field of the window, or to the window itself if it has none. On touch screens,
   * always focuses the window, because a focused text field would open the keyboard. */
  focusWindow(): void {
    const isTouch = matchMedia("(pointer: coarse)").matches;
    const field = isTouch ? null : this.#find(".window textarea, .window input");
    (field ?? this.#find(".window"))?.focus({ preventScroll: true });
  }

  focusLabel(): void {
    this.#find(".label")?.focus({ preventScroll: true });
  }

  remove(): void {
    this.#host.remove();
  }

  #find(selector: string): HTMLElement | null {
    return this.#shadow.querySelector<HTMLElement>(selector);
  }

  #setColors(color: string, color2: string | null): void {
    const brand = brandStyles(color, color2);
    if (brand === this.#brand) return;
    this.#brand = brand;
    this.#brandSheet.replaceSync(brand);
  }

  /** Keeps the focus within a window that fills the screen, because it covers the page. */
  #keepFocus(event: KeyboardEvent): void {
    const window = this.#find(".window");
    if (event.key !== "Tab" || !window || !fillsScreen()) return;
    const elements = [...window.querySelectorAll<HTMLElement>(FOCUSABLE)];
    const [edge, other] = event.shiftKey ? [elements[0], elements.at(-1)] : [elements.at(-1), elements[0]];
    if (this.#shadow.activeElement !== edge && this.#shadow.activeElement !== window) return;
    event.preventDefault();
    other?.focus();
  }
}

const whenIdle = (run: () => void) =>
  "requestIdleCallback" in globalThis ? requestIdleCallback(run) : setTimeout(run, 1000);

function Root({ state, actions, window, prepare }: Props & { window: Child; prepare: () => void }) {
  const { isOpen, isInvitationOutside, settings, language } = state;
  return (
    <aside
      class={`root ${settings.position}`}
      lang={language}
      dir={isRightToLeft(language) ? "rtl" : "ltr"}
      aria-label={fill(state.texts.chatWith, settings.title)}
    >
      {isOpen ? window : isInvitationOutside && <InvitationBubble state={state} actions={actions} />}
      <Label state={state} actions={actions} prepare={prepare} />
    </aside>
  );
}
