import { Dialog } from "../../ui/dialog";
import { unixSeconds } from "../state/chat/snooze-times";
import { closeOverlay } from "../state/list/view-state";
import { visitorName } from "../state/list/chats";
import { useWorkspace } from "../workspace-context";
import { TimeChoice } from "./time-choice";
import { t } from "../../texts/translate";

const MAX_SNOOZE_DAYS = 90;

/** Asks until when an own chat is put aside. */
export function SnoozeDialog({ chatId }: { chatId: number }) {
  const { chats, organizing } = useWorkspace();
  const row = chats.row(chatId);
  const snooze = (until: Date | undefined) => {
    closeOverlay();
    void organizing.snooze(chatId, until && unixSeconds(until));
  };
  const isSnoozed = row !== undefined && chats.isSnoozed(row);
  return (
    <Dialog title={row === undefined ? t`Snooze the chat` : t`Snooze ${visitorName(row)}`} onClose={closeOverlay}>
      <div class="body">
        <p class="quiet-text">{t`The chat leaves your list until then, or until the visitor writes.`}</p>
        <TimeChoice maxDays={MAX_SNOOZE_DAYS} submitLabel={t`Snooze`} onChoose={snooze} />
        {isSnoozed && (
          <button type="button" class="btn line" onClick={() => snooze(undefined)}>
            {t`End the snooze now`}
          </button>
        )}
      </div>
    </Dialog>
  );
}
