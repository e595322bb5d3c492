/** @jsxImportSource #widget */
/* The bundle of the window. The widget imports it when the window is about to be opened. It is built on its own and
   contains copies of the modules that it shares with the widget. */

import { isAfter } from "../chat/conversation";
import type { Message } from "../service/types";
import type { State } from "../state";
import { fitHeight } from "./composer";
import type { Child } from "./jsx/jsx-runtime";
import { isAtEnd } from "./log";
import type { Actions } from "./props";
import styles from "./window.css";
import { Window } from "./window";

export interface ChatWindow {
  render: (state: State) => Child;
  /** Must be called before the state is rendered. Returns a function to be called afterwards, which keeps the end of
   * the log, or the messages after those that were loaded, in view and sets the height of a new composer. */
  prepare: (state: State) => () => void;
}

/** Adds the window's styles to the shadow tree. */
export function createWindow(shadow: ShadowRoot, actions: Actions): ChatWindow {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  shadow.adoptedStyleSheets.push(sheet);
  let pendingCount = 0;
  let first: Message | undefined;
  const findLog = () => shadow.querySelector(".log");
  return {
    render: (state) => <Window state={state} actions={actions} />,
    prepare: (state) => {
      const log = findLog();
      const pending = state.conversation.pending.length;
      const isScrolled = log === null || isAtEnd(log) || pending > pendingCount;
      pendingCount = pending;
      const before = first;
      [first] = state.conversation.messages;
      const hasEarlier = before && first && isAfter(before, { chatId: first.chat_id, seq: first.seq });
      const { scrollHeight = 0, scrollTop = 0 } = log ?? {};
      return () => {
        if (isScrolled) findLog()?.scrollTo(0, Number.MAX_SAFE_INTEGER);
        else if (hasEarlier) log.scrollTop = scrollTop + log.scrollHeight - scrollHeight;
        const field = shadow.querySelector<HTMLTextAreaElement>(".composer textarea");
        if (log === null && field) fitHeight(field);
      };
    },
  };
}
