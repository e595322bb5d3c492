import { Dialog } from "../../ui/dialog";
import { closeOverlay, focusComposer } from "../state/list/view-state";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** Asks for confirmation before a message is deleted. */
export function DeleteMessageDialog({ chatId, seq }: { chatId: number; seq: number }) {
  const { messageChanges, timelines } = useWorkspace();
  const entry = timelines.peek(chatId)?.entries.value.find((one) => one.seq === seq);
  const confirm = () => {
    closeOverlay();
    if (entry !== undefined) void messageChanges.delete(chatId, entry);
    focusComposer(chatId);
  };
  return (
    <Dialog title={t`Delete the message?`} onClose={closeOverlay}>
      <div class="body">
        <p>
          {t`The visitor sees that a message was deleted. Its text and its file are gone for good, also for your colleagues.`}
        </p>
        <footer>
          <button type="button" class="btn line" data-autofocus onClick={closeOverlay}>
            {t`Keep it`}
          </button>
          <button type="button" class="btn danger" onClick={confirm}>
            {t`Delete`}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
