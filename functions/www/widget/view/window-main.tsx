/** @jsxImportSource #widget */
/* The bundle of the window and of the bubble beside the label. The widget imports it when it has something to show. It
   is built on its own and contains copies of the modules that it shares with the widget. */

import { isAfter } from "../chat/conversation";
import type { Message } from "../service/types";
import type { State } from "../state";
import { announcement, Bubble, hasBubble } from "./bubble";
import { fitComposer } from "./composer";
import { createCovering, fitViewport, keepFocus } from "./covering";
import type { Child } from "./jsx/jsx-runtime";
import { isAtEnd, keepEnd, scrollToEnd } from "./log";
import { fillsScreen } from "./fills-screen";
import type { Actions } from "./props";
import styles from "./window.css";
import { Window } from "./window";

/** How often the bubble that a dialog of the page hides is tried again. */
const BUBBLE_INTERVAL_MS = 1000;

export interface ChatWindow {
  /** Renders the window or, while it is closed, the bubble beside the label. */
  render: (state: State) => Child;
  /** What a screen reader announces while the window is closed. */
  announcement: (state: State) => string;
  /** Must be called before the state is rendered. Returns a function to be called afterwards, which keeps the end of
   * the log, or the messages after those that were loaded, in view and sets the height of a new composer. */
  prepare: (state: State) => () => void;
  remove: () => void;
}

/** Adds the window's styles to the shadow tree. `renderAgain` renders the last state. */
export function createWindow(
  host: HTMLElement,
  shadow: ShadowRoot,
  actions: Actions,
  renderAgain: () => void,
): ChatWindow {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  shadow.adoptedStyleSheets.push(sheet);
  const cover = createCovering(host);
  // The preview in the console covers nothing.
  const isOnPage = [document.body, document.documentElement].includes(host.parentElement as HTMLElement);
  const stop = new AbortController();
  const { signal } = stop;
  let isCovering = false;
  let pendingCount = 0;
  let first: Message | undefined;
  let bubbleTimer: ReturnType<typeof setTimeout> | undefined;
  const find = <Type extends HTMLElement>(selector: string) => shadow.querySelector<Type>(selector);
  const isLogAtEnd = () => {
    const log = find(".log");
    return !log || isAtEnd(log);
  };
  const fit = () => keepEnd(find(".log"), () => fitViewport(find(".window"), isCovering));
  visualViewport?.addEventListener("resize", fit, { signal });
  visualViewport?.addEventListener("scroll", fit, { signal });
  addEventListener("resize", renderAgain, { signal });
  shadow.addEventListener(
    "keydown",
    (event) => {
      const window = find(".window");
      if (window && isCovering) keepFocus(event as KeyboardEvent, window, shadow.activeElement);
    },
    { signal },
  );
  return {
    render: (state) =>
      state.isOpen ? <Window state={state} actions={actions} /> : <Bubble state={state} actions={actions} />,
    announcement: (state) => announcement(state, actions),
    prepare: (state) => {
      const log = find(".log");
      const pending = state.conversation.pending.length;
      const isScrolled = isLogAtEnd() || pending > pendingCount;
      pendingCount = pending;
      const before = first;
      [first] = state.conversation.messages;
      const hasEarlier = before && first && isAfter(before, { chatId: first.chat_id, seq: first.seq });
      const { scrollHeight = 0, scrollTop = 0 } = log ?? {};
      return () => {
        isCovering = state.isOpen && isOnPage && fillsScreen();
        cover(isCovering);
        fitViewport(find(".window"), isCovering);
        const field = find<HTMLTextAreaElement>(".composer textarea");
        if (!log && field) fitComposer(field);
        if (isScrolled) scrollToEnd(find(".log"));
        else if (log && hasEarlier) log.scrollTop = scrollTop + log.scrollHeight - scrollHeight;
        clearTimeout(bubbleTimer);
        if (hasBubble(state) && !find(".beside")) bubbleTimer = setTimeout(renderAgain, BUBBLE_INTERVAL_MS);
      };
    },
    remove: () => {
      stop.abort();
      clearTimeout(bubbleTimer);
      cover(false);
    },
  };
}
