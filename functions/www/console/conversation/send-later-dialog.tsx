import { Dialog } from "../../ui/dialog";
import { TimeChoice } from "../organizing/time-choice";
import { closeOverlay } from "../state/list/view-state";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

const MAX_PLAN_DAYS = 30;

/** Asks when the text in the composer of a chat is sent. */
export function SendLaterDialog({ chatId }: { chatId: number }) {
  const { plannedMessages } = useWorkspace();
  const plan = (at: Date) => {
    closeOverlay();
    void plannedMessages.planDraft(chatId, at);
  };
  return (
    <Dialog title={t`Send later`} onClose={closeOverlay}>
      <div class="body">
        <p class="quiet-text">
          {t`The message is sent in your name, also if you are away or the chat has another agent by then. If the chat is closed by then, it is not sent, and a private note tells you.`}
        </p>
        <TimeChoice maxDays={MAX_PLAN_DAYS} submitLabel={t`Send later`} onChoose={plan} />
      </div>
    </Dialog>
  );
}
