import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { changeSelected, selectedChats } from "../chat-actions";
import { ChatLeftOut } from "../state/chat/bulk-change";
import { closeOverlay, type Overlay } from "../state/list/view-state";
import { TransferDialog } from "../transfer/transfer-dialog";
import { useWorkspace } from "../workspace-context";
import { TagChoice } from "./tag-choice";
import { plural, t } from "../../texts/translate";

export type BulkKind = Extract<Overlay["kind"], `bulk-${string}`>;

/** Changes the chats that were selected when the dialog was opened. */
export function BulkDialog({ kind }: { kind: BulkKind }) {
  const workspace = useWorkspace();
  const [chatIds] = useState(() => selectedChats(workspace));
  if (kind === "bulk-transfer") return <TransferDialog chatIds={chatIds} />;
  return kind === "bulk-tags" ? <BulkTagDialog chatIds={chatIds} /> : <BulkCloseDialog chatIds={chatIds} />;
}

/** Puts a tag on all chats, or removes it if all of them have it. The chats stay selected for further changes. */
function BulkTagDialog({ chatIds }: { chatIds: readonly number[] }) {
  const { bulk, chats, organizing } = useWorkspace();
  const rows = chatIds.flatMap((id) => chats.row(id) ?? []);
  const countWith = (tagId: number) => rows.filter((row) => row.tag_ids?.includes(tagId)).length;
  return (
    <Dialog title={plural(chatIds.length, "Tags of {count} chat", "Tags of {count} chats")} onClose={closeOverlay}>
      <div class="body">
        <TagChoice
          isSet={(tagId) => countWith(tagId) === rows.length}
          isPartlySet={(tagId) => countWith(tagId) > 0 && countWith(tagId) < rows.length}
          isDisabled={() => bulk.progress.value?.isRunning === true}
          onChange={(tagId, isSet) =>
            void bulk.run(t`Tagging`, chatIds, (chatId) => organizing.storeTag(chatId, tagId, isSet))
          }
        />
      </div>
    </Dialog>
  );
}

function BulkCloseDialog({ chatIds }: { chatIds: readonly number[] }) {
  const workspace = useWorkspace();
  const close = () => {
    closeOverlay();
    void changeSelected(workspace, t`Closing`, chatIds, async (chatId) => {
      if (workspace.hasUnsent(chatId)) throw new ChatLeftOut(t`It has a draft or an unsent message.`);
      await workspace.closing.closeNow(chatId);
    });
  };
  return (
    <Dialog title={plural(chatIds.length, "Close {count} chat?", "Close {count} chats?")} onClose={closeOverlay}>
      <div class="body">
        <p>{t`This cannot be undone. A chat with a draft or an unsent message stays open.`}</p>
        <footer>
          <button type="button" class="btn line" onClick={closeOverlay}>
            {t`Cancel`}
          </button>
          <button type="button" class="btn danger" data-autofocus onClick={close}>
            {plural(chatIds.length, "Close {count} chat", "Close {count} chats")}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
