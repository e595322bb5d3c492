import { useState } from "preact/hooks";
import type { CannedReply } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { useWorkspace } from "../workspace-context";
import { closeOverlay } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import { describeActions } from "../state/chat/reply-actions";
import { CannedReplyEditor } from "./canned-reply-editor";
import { rich, t } from "../../texts/translate";

/** Lets admins manage the account's canned replies. */
export function CannedRepliesDialog() {
  const workspace = useWorkspace();
  const replies = workspace.cannedReplies.items.value ?? [];
  const [editedReply, setEditedReply] = useState<CannedReply | "new">();
  if (editedReply !== undefined)
    return (
      <CannedReplyEditor
        reply={editedReply === "new" ? undefined : editedReply}
        onDone={() => setEditedReply(undefined)}
      />
    );
  const remove = async (reply: CannedReply) => {
    try {
      await workspace.api.delete("/agent/canned-replies/{id}", { path: { id: reply.id } });
      await workspace.cannedReplies.load();
      toast(t`/${reply.shortcut} deleted.`, {
        action: {
          label: t`Undo`,
          run: () => {
            const { id: _, ...body } = reply;
            void workspace.api.post("/agent/canned-replies", { body }).then(() => workspace.cannedReplies.load());
          },
        },
      });
    } catch (error) {
      toast(t`Not deleted. ${errorText(error)}`, { isBad: true });
    }
  };
  return (
    <Dialog title={t`Canned replies`} class="wide-dialog" onClose={closeOverlay}>
      <div class="body scroll">
        <p class="quiet-text">
          {rich`Agents type a slash and the first letters of the shortcut. ${(<code>{"{visitor}"}</code>)} and ${(<code>{"{agent}"}</code>)} are filled in.`}
        </p>
        {replies.length === 0 ? (
          <p class="blank">{t`There are no canned replies yet.`}</p>
        ) : (
          <ul class="canned-list">
            {replies.map((reply) => (
              <li key={reply.id}>
                <span class="words">
                  <b>/{reply.shortcut}</b>
                  <span class="clip" dir="auto">
                    {reply.text}
                  </span>
                  {reply.actions !== undefined && (
                    <span class="clip" dir="auto">
                      {describeActions(reply.actions, workspace.roster.people.value).join(", ")}
                    </span>
                  )}
                </span>
                <button
                  type="button"
                  class="btn only-icon"
                  aria-label={t`Edit /${reply.shortcut}`}
                  onClick={() => setEditedReply(reply)}
                >
                  <Icon name="pencil" />
                </button>
                <button
                  type="button"
                  class="btn only-icon"
                  aria-label={t`Delete /${reply.shortcut}`}
                  onClick={() => void remove(reply)}
                >
                  <Icon name="trash-2" />
                </button>
              </li>
            ))}
          </ul>
        )}
        <footer>
          <button type="button" class="btn primary" data-autofocus onClick={() => setEditedReply("new")}>
            <Icon name="plus" />
            {t`Add a reply`}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
