import { Icon } from "../../ui/icons";
import { selectedChats } from "../chat-actions";
import { visitorName } from "../state/list/chats";
import { openChat } from "../state/page/route";
import { overlay } from "../state/list/view-state";
import type { BulkProgress } from "../state/chat/bulk-change";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** What can be done with the selected chats, and how far it is. */
export function SelectionBar() {
  const workspace = useWorkspace();
  const count = selectedChats(workspace).length;
  const progress = workspace.bulk.progress.value;
  return (
    <div class="selection-bar" role="group" aria-label={t`Selected chats`}>
      {progress?.isRunning === true ? (
        <p role="status">{t`${progress.label}: ${progress.done} of ${progress.total}`}</p>
      ) : (
        count > 0 && <Actions count={count} />
      )}
      {progress?.isRunning === false && <Failures progress={progress} />}
    </div>
  );
}

function Actions({ count }: { count: number }) {
  const { selection } = useWorkspace();
  return (
    <>
      <b role="status">{t`${count} selected`}</b>
      <button type="button" class="btn" aria-keyshortcuts="l" onClick={() => (overlay.value = { kind: "bulk-tags" })}>
        {t`Tag`}
      </button>
      <button
        type="button"
        class="btn"
        aria-keyshortcuts="t"
        onClick={() => (overlay.value = { kind: "bulk-transfer" })}
      >
        {t`Transfer`}
      </button>
      <button type="button" class="btn" aria-keyshortcuts="e" onClick={() => (overlay.value = { kind: "bulk-close" })}>
        {t`Close`}
      </button>
      <button
        type="button"
        class="btn only-icon"
        aria-label={t`Select none`}
        title={t`Select none (Esc)`}
        onClick={() => selection.clear()}
      >
        <Icon name="x" />
      </button>
    </>
  );
}

/** The chats that could not be changed, and why. They are still selected. */
function Failures({ progress }: { progress: BulkProgress }) {
  const { bulk, chats } = useWorkspace();
  return (
    <div class="notice bad" role="alert">
      <ul>
        {progress.failures.map(({ chatId, problem }) => {
          const row = chats.row(chatId);
          return (
            <li key={chatId}>
              <button type="button" class="link" dir="auto" onClick={() => openChat(chatId)}>
                {row === undefined ? t`Chat #${chatId}` : visitorName(row)}
              </button>
              : {problem}
            </li>
          );
        })}
      </ul>
      <button type="button" class="btn only-icon" aria-label={t`Dismiss`} onClick={() => bulk.dismiss()}>
        <Icon name="x" />
      </button>
    </div>
  );
}
