import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { CannedReply, ReplyActions } from "../../api/types";
import { Dialog, SubmitButtons } from "../../ui/dialog";
import { controlAttributes, FieldNotes } from "../../ui/form-fields";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { countCharacters, MAX_CANNED_REPLY_CHARACTERS } from "./composer-text";
import { MacroFields } from "./macro-fields";
import { t, tIn } from "../../texts/translate";

const NO_ACTIONS: ReplyActions = { add_tags: [], close: false };

/** Returns null if there is nothing to do, as the service stores it. */
const withoutNothing = (actions: ReplyActions): ReplyActions | null =>
  actions.add_tags.length === 0 && actions.transfer_to === undefined && !actions.close ? null : actions;

/** Creates or changes a canned reply. */
export function CannedReplyEditor({ reply, onDone }: { reply: CannedReply | undefined; onDone: () => void }) {
  const workspace = useWorkspace();
  const [shortcut, setShortcut] = useState(reply?.shortcut ?? "");
  const [text, setText] = useState(reply?.text ?? "");
  const [actions, setActions] = useState(reply?.actions ?? NO_ACTIONS);
  const [problem, setProblem] = useState<{ field?: "shortcut" | "text"; text: string }>();
  const name = shortcut.trim().replace(/^\//, "");
  const save = async (event: Event) => {
    event.preventDefault();
    if (!/^\S{1,40}$/.test(name))
      return setProblem({ field: "shortcut", text: t`Enter a shortcut of one word, with at most 40 characters.` });
    if (text.trim() === "" || countCharacters(text.trim()) > MAX_CANNED_REPLY_CHARACTERS)
      return setProblem({ field: "text", text: t`Enter a reply of at most 5,000 characters.` });
    try {
      const body = { shortcut: name, text: text.trim(), actions: withoutNothing(actions) };
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
      title={reply === undefined ? t`New canned reply` : t`Edit /${reply.shortcut}`}
      class="wide-dialog"
      onClose={onDone}
    >
      <form class="body scroll" onSubmit={(event) => void save(event)} noValidate>
        <div class="field">
          <label for="canned-shortcut">{t`Shortcut`}</label>
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
          <label for="canned-text">{tIn("noun", "Reply")}</label>
          <textarea
            {...attributes("text")}
            class="input"
            rows={6}
            dir="auto"
            placeholder={t`Hello {visitor}, …`}
            value={text}
            onInput={(event) => type("text", event.currentTarget.value)}
          />
          <FieldNotes id="canned-text" problem={problem?.field === "text" ? problem.text : undefined} />
        </div>
        <MacroFields actions={actions} onChange={setActions} />
        {problem !== undefined && problem.field === undefined && (
          <p class="notice bad" role="alert">
            {problem.text}
          </p>
        )}
        <SubmitButtons label={t`Save`} onCancel={onDone} />
      </form>
    </Dialog>
  );
}
