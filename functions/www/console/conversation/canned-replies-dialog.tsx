import { useState } from "preact/hooks";
import type { CannedReply } from "../../api/types";
import { ApiError } from "../../api/client";
import { Dialog, SubmitButtons } from "../../ui/dialog";
import { controlAttributes, FieldNotes } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { useWorkspace } from "../workspace-context";
import { closeOverlay } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import { countCharacters, MAX_CANNED_REPLY_CHARACTERS } from "./composer-text";

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
      toast(`/${reply.shortcut} deleted.`, {
        action: {
          label: "Undo",
          run: () =>
            void workspace.api
              .post("/agent/canned-replies", { body: { shortcut: reply.shortcut, text: reply.text } })
              .then(() => workspace.cannedReplies.load()),
        },
      });
    } catch (error) {
      toast(`Not deleted. ${errorText(error)}`, { isBad: true });
    }
  };
  return (
    <Dialog title="Canned replies" class="wide-dialog" onClose={closeOverlay}>
      <div class="body scroll">
        <p class="quiet-text">
          Agents type a slash and the first letters of the shortcut. <code>{"{visitor}"}</code> and{" "}
          <code>{"{agent}"}</code> are filled in.
        </p>
        {replies.length === 0 ? (
          <p class="blank">There are no canned replies yet.</p>
        ) : (
          <ul class="canned-list">
            {replies.map((reply) => (
              <li key={reply.id}>
                <span class="words">
                  <b>/{reply.shortcut}</b>
                  <span class="clip" dir="auto">
                    {reply.text}
                  </span>
                </span>
                <button
                  type="button"
                  class="btn only-icon"
                  aria-label={`Edit /${reply.shortcut}`}
                  onClick={() => setEditedReply(reply)}
                >
                  <Icon name="pencil" />
                </button>
                <button
                  type="button"
                  class="btn only-icon"
                  aria-label={`Delete /${reply.shortcut}`}
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
            Add a reply
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

function CannedReplyEditor({ reply, onDone }: { reply: CannedReply | undefined; onDone: () => void }) {
  const workspace = useWorkspace();
  const [shortcut, setShortcut] = useState(reply?.shortcut ?? "");
  const [text, setText] = useState(reply?.text ?? "");
  const [problem, setProblem] = useState<{ field?: "shortcut" | "text"; text: string }>();
  const name = shortcut.trim().replace(/^\//, "");
  const save = async (event: Event) => {
    event.preventDefault();
    if (!/^\S{1,40}$/.test(name))
      return setProblem({ field: "shortcut", text: "Enter a shortcut of one word, with at most 40 characters." });
    if (text.trim() === "" || countCharacters(text.trim()) > MAX_CANNED_REPLY_CHARACTERS)
      return setProblem({ field: "text", text: "Enter a reply of at most 5,000 characters." });
    try {
      const body = { shortcut: name, text: text.trim() };
      if (reply === undefined) await workspace.api.post("/agent/canned-replies", { body });
      else await workspace.api.patch("/agent/canned-replies/{id}", { path: { id: reply.id }, body });
      await workspace.cannedReplies.load();
      onDone();
    } catch (error) {
      const field =
        error instanceof ApiError && (error.field === "shortcut" || error.status === 409) ? "shortcut" : undefined;
      setProblem({ text: errorText(error), ...(field === undefined ? {} : { field }) });
    }
  };
  const attributes = (field: "shortcut" | "text") =>
    controlAttributes(`canned-${field}`, false, problem?.field === field ? problem.text : undefined);
  const type = (field: "shortcut" | "text", value: string) => {
    if (problem?.field === field) setProblem(undefined);
    if (field === "shortcut") setShortcut(value);
    else setText(value);
  };
  return (
    <Dialog
      title={reply === undefined ? "New canned reply" : `Edit /${reply.shortcut}`}
      class="wide-dialog"
      onClose={onDone}
    >
      <form class="body scroll" onSubmit={(event) => void save(event)} noValidate>
        <div class="field">
          <label for="canned-shortcut">Shortcut</label>
          <input
            {...attributes("shortcut")}
            class="input"
            data-autofocus
            autocomplete="off"
            spellcheck={false}
            placeholder="refund"
            value={shortcut}
            onInput={(event) => type("shortcut", event.currentTarget.value)}
          />
          <FieldNotes id="canned-shortcut" problem={problem?.field === "shortcut" ? problem.text : undefined} />
        </div>
        <div class="field">
          <label for="canned-text">Reply</label>
          <textarea
            {...attributes("text")}
            class="input"
            rows={6}
            dir="auto"
            placeholder="Hello {visitor}, …"
            value={text}
            onInput={(event) => type("text", event.currentTarget.value)}
          />
          <FieldNotes id="canned-text" problem={problem?.field === "text" ? problem.text : undefined} />
        </div>
        {problem !== undefined && problem.field === undefined && (
          <p class="notice bad" role="alert">
            {problem.text}
          </p>
        )}
        <SubmitButtons label="Save" onCancel={onDone} />
      </form>
    </Dialog>
  );
}
