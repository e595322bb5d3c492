import { Dialog } from "../ui/dialog";
import { closeAndOpenNext } from "./chat-actions";
import { useWorkspace } from "./workspace-context";
import { answerLeaveRequest, leaveRequest } from "./state/page/leave-guard";
import { closeOverlay } from "./state/list/view-state";
import { visitorName } from "./state/list/chats";
import { listText } from "../ui/words";
import { plural, t } from "../texts/translate";

export function CloseDialog({ chatId }: { chatId: number }) {
  const workspace = useWorkspace();
  const row = workspace.chats.row(chatId);
  const unsentCount = workspace.outbox.items.value.filter((item) => item.chatId === chatId).length;
  const hasDraft = workspace.drafts.chatIds.value.has(chatId);
  const title = row === undefined ? t`Close the chat?` : t`Close the chat with ${visitorName(row)}?`;
  const lost = [
    unsentCount > 0
      ? plural(unsentCount, "{count} message that is not sent", "{count} messages that are not sent")
      : "",
    hasDraft ? t`the draft` : "",
  ].filter(Boolean);
  const close = () => {
    for (const item of workspace.outbox.items.peek()) if (item.chatId === chatId) workspace.outbox.discard(item.key);
    workspace.drafts.write(chatId, "", false);
    closeOverlay();
    closeAndOpenNext(workspace, chatId);
  };
  return (
    <Dialog title={title} onClose={closeOverlay}>
      <div class="body">
        <p>{t`You would lose ${listText(lost) || t`nothing`}.`}</p>
        <footer>
          <button type="button" class="btn line" data-autofocus onClick={closeOverlay}>
            {t`Keep it open`}
          </button>
          <button type="button" class="btn danger" onClick={close}>
            {t`Close and discard`}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

/** Asks for confirmation before unsaved changes on the page are lost. */
export function LeaveDialog() {
  const request = leaveRequest.value;
  if (request === undefined) return null;
  const { title, text, stay, leave } = request.question;
  return (
    <Dialog title={title} onClose={() => answerLeaveRequest(false)}>
      <div class="body">
        <p>{text}</p>
        <footer>
          <button type="button" class="btn line" data-autofocus onClick={() => answerLeaveRequest(false)}>
            {stay}
          </button>
          <button type="button" class="btn danger" onClick={() => answerLeaveRequest(true)}>
            {leave}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
