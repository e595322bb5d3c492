import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** Selects a chat. It covers the row's picture while the pointer is on the row or chats are selected. */
export function RowCheckbox({ chatId, name }: { chatId: number; name: string }) {
  const { selection } = useWorkspace();
  return (
    <input
      type="checkbox"
      class="pick"
      aria-label={t`Select ${name}`}
      tabIndex={-1}
      checked={selection.chatIds.value.has(chatId)}
      onChange={() => selection.toggle(chatId)}
    />
  );
}
