/** @jsxImportSource #widget */
/* Puts the widget on the page, in a shadow tree that neither inherits nor changes the page's styles. */

import type { Settings } from "../service/types";
import type { State } from "../state";
import { fill, isRightToLeft } from "../texts";
import type { Actions, Props } from "./props";
import { EmptyWindow } from "./frame";
import type { HostElement } from "./host-element";
import { isComposing } from "./is-composing";
import { createRenderer, type Child } from "./jsx/jsx-runtime";
import { Label } from "./label";
import { settingsStyles } from "./settings-styles";
import styles from "./styles.css";
import type { ChatWindow } from "./window-main";

/** How long a text stays in the element whose changes screen readers announce. */
const ANNOUNCEMENT_MS = 5000;

/** Loads the bundle of the window, unless it is loaded already. */
export type LoadWindow = () => Promise<typeof import("./window-main")>;
type CreateWindow = Awaited<ReturnType<LoadWindow>>["createWindow"];

export class View {
  readonly #host: HostElement;
  readonly #shadow: ShadowRoot;
  readonly #settingsSheet = new CSSStyleSheet();
  readonly #renderTree: ReturnType<typeof createRenderer>;
  readonly #stop = new AbortController();
  #settings: Settings | undefined;
  #state: State | undefined;
  /** Whether the window was open when it was last rendered. */
  #isOpen = false;
  #window: ChatWindow | undefined;
  #isLoading = false;
  /** Whether the window's code could not be loaded. It is then loaded when the visitor acts, or the network is back. */
  #hasFailed = false;
  #lastAnnouncement = "";
  #announcement = "";
  #announcementTimer: ReturnType<typeof setTimeout> | undefined;
  /** The element of the page that had the focus before the window was opened. */
  #opener: HTMLElement | undefined;

  readonly #actions: Actions;
  readonly #loadWindow: LoadWindow;

  constructor(actions: Actions, loadWindow: LoadWindow, host: HostElement) {
    this.#actions = actions;
    this.#loadWindow = loadWindow;
    this.#host = host;
    this.#shadow = host.shadow;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    // Unlike style elements, adopted style sheets are not restricted by the page's Content-Security-Policy.
    this.#shadow.adoptedStyleSheets = [sheet, this.#settingsSheet];
    this.#shadow.addEventListener("keydown", (event) => this.#dismissBubble(event as KeyboardEvent));
    const { signal } = this.#stop;
    addEventListener("online", () => this.#hasFailed && this.#load(), { signal });
    addEventListener("keydown", (event) => event.target === document.body && this.#dismissBubble(event), { signal });
    this.#renderTree = createRenderer(this.#shadow);
  }

  render(state: State): void {
    if (state.isOpen && !this.#isOpen) {
      this.#opener = this.#focusedElementOfPage();
      this.#hasFailed = false;
    }
    this.#isOpen = state.isOpen;
    this.#state = state;
    const { isOpen, isInvitationOutside, preview, conversation } = state;
    if (isOpen || isInvitationOutside || preview) this.#loadUnlessFailed();
    else if (!this.#window && conversation.isChatOpen) whenIdle(this.#loadUnlessFailed);
    this.#applySettings(state.settings);
    this.#announce(this.#window?.announcement(state) ?? "");
    const finish = this.#window?.prepare(state);
    const hadFocus = this.#shadow.activeElement !== null;
    const actions = this.#actions;
    const content = this.#window
      ? this.#window.render(state)
      : isOpen && <EmptyWindow state={state} actions={actions} hasFailed={this.#hasFailed} retry={this.#load} />;
    this.#renderTree(
      <Root state={state} actions={actions} announcement={this.#announcement} prepare={this.#load}>
        {content}
      </Root>,
    );
    // The focused element was removed, for example together with a submitted form or a dismissed invitation.
    if (hadFocus && this.#shadow.activeElement === null) this.focusWindow();
    finish?.();
  }

  /** Moves the focus to the first text field of the window, or to the window itself if it has none. On touch screens,
   * always focuses the window, because a focused text field would open the keyboard. If there is no window, focuses the
   * label. */
  focusWindow(): void {
    const isTouch = matchMedia("(pointer: coarse)").matches;
    const field = isTouch ? null : this.#find(".window :is(textarea,input,select)");
    (field ?? this.#find(".window") ?? this.#find(".label"))?.focus({ preventScroll: true });
  }

  /** Moves the focus to the element of the page that had it before the window was opened, or else to the label. */
  focusLabel(): void {
    const opener = this.#opener?.isConnected ? this.#opener : this.#find(".label");
    this.#opener = undefined;
    opener?.focus({ preventScroll: true });
  }

  remove(): void {
    this.#stop.abort();
    clearTimeout(this.#announcementTimer);
    this.#window?.remove();
    this.#host.remove();
  }

  readonly #loadUnlessFailed = (): void => {
    if (!this.#hasFailed) this.#load();
  };

  /** Loads the window's code, unless it is loaded already. */
  readonly #load = (): void => {
    if (this.#window || this.#isLoading || this.#stop.signal.aborted) return;
    this.#isLoading = true;
    if (this.#hasFailed) {
      this.#hasFailed = false;
      this.#renderAgain();
    }
    const finish = (createWindow?: CreateWindow) => {
      if (this.#stop.signal.aborted) return;
      this.#isLoading = false;
      this.#window = createWindow?.(this.#host.element, this.#shadow, this.#actions, this.#renderAgain);
      this.#hasFailed = !this.#window;
      const isFocused = this.#shadow.activeElement?.matches(".window");
      this.#renderAgain();
      if (isFocused) this.focusWindow();
    };
    this.#loadWindow().then(
      ({ createWindow }) => finish(createWindow),
      () => finish(),
    );
  };

  readonly #renderAgain = (): void => {
    if (this.#state && !this.#stop.signal.aborted) this.render(this.#state);
  };

  #focusedElementOfPage(): HTMLElement | undefined {
    const { activeElement: element } = document;
    return element instanceof HTMLElement && element !== document.body && element !== this.#host.shadow.host
      ? element
      : undefined;
  }

  #find(selector: string): HTMLElement | null {
    return this.#shadow.querySelector<HTMLElement>(selector);
  }

  #applySettings(settings: Settings): void {
    if (settings === this.#settings) return;
    this.#settings = settings;
    this.#settingsSheet.replaceSync(settingsStyles(settings));
  }

  /** Lets screen readers announce a new text. It is removed later, so that nobody finds it beside the bubble. */
  #announce(text: string): void {
    if (text === this.#lastAnnouncement) return;
    this.#lastAnnouncement = this.#announcement = text;
    clearTimeout(this.#announcementTimer);
    this.#announcementTimer = setTimeout(() => {
      this.#announcement = "";
      this.#renderAgain();
    }, ANNOUNCEMENT_MS);
  }

  /** Dismisses what stands beside the label when Escape is pressed. */
  #dismissBubble(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.defaultPrevented || isComposing(event)) return;
    if (!this.#state || this.#state.isOpen) return;
    if (this.#state.preview) this.#actions.dismissPreview();
    else if (this.#state.isInvitationOutside) this.#actions.dismissInvitation();
  }
}

const whenIdle = (run: () => void) =>
  "requestIdleCallback" in globalThis ? requestIdleCallback(run) : setTimeout(run, 1000);

interface RootProps extends Props {
  announcement: string;
  prepare: () => void;
  children: Child;
}

function Root({ state, actions, announcement, prepare, children }: RootProps) {
  const { settings, language, texts } = state;
  return (
    <aside
      class={`root ${settings.position}`}
      lang={language}
      dir={isRightToLeft(language) ? "rtl" : "ltr"}
      aria-label={fill(texts.chatWith, settings.title)}
    >
      <p class="announcement" role="status">
        {announcement}
      </p>
      {children}
      {!settings.launcher.hidden && <Label state={state} actions={actions} prepare={prepare} />}
    </aside>
  );
}
