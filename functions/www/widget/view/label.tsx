/** @jsxImportSource #widget */
import { fill } from "../texts";
import type { Props } from "./props";
import { ChatIcon, DownIcon } from "./icons";

/** The round button that opens and closes the window. */
export function Label({ state, actions, prepare }: Props & { prepare: () => void }) {
  const { texts, isOpen, unread } = state;
  const name = isOpen
    ? texts.closeChat
    : unread > 0
      ? `${texts.openChat}, ${fill(texts.unread, unread)}`
      : texts.openChat;
  return (
    <button
      type="button"
      class={isOpen ? "label opened" : "label"}
      aria-label={name}
      aria-expanded={isOpen}
      onPointerEnter={prepare}
      onFocus={prepare}
      onClick={isOpen ? actions.close : actions.open}
    >
      {isOpen ? <DownIcon /> : <ChatIcon />}
      {!isOpen && unread > 0 && <b aria-hidden="true">{unread > 99 ? "99+" : unread}</b>}
    </button>
  );
}
