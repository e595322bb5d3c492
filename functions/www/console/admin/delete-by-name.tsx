import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { errorText } from "../state/page/error-text";
import { confirmsName, shownName } from "../../ui/confirm-name";
import { FormSection } from "./detail-header";
import { rich, t } from "../../texts/translate";

interface DeletionProps {
  /** What is deleted, such as "the channel". */
  thing: string;
  name: string;
  /** Typed in place of the name if the name has no visible characters. */
  id: string | number;
  /** Tells the admin what the deletion does. */
  effect: string;
  remove: () => Promise<void>;
}

/** The last part of a detail page: deletes something after its name has been typed. */
export function DeleteByName(props: DeletionProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <FormSection title={t`Delete`}>
      <p class="quiet-text">{props.effect}</p>
      <div>
        <button type="button" class="btn line bad" onClick={() => setAsking(true)}>
          <Icon name="trash-2" />
          {t`Delete ${props.thing}…`}
        </button>
      </div>
      {isAsking && <DeleteDialog {...props} onClose={() => setAsking(false)} />}
    </FormSection>
  );
}

function DeleteDialog({ name: storedName, id, effect, remove, onClose }: DeletionProps & { onClose: () => void }) {
  const name = shownName(storedName) === "" ? String(id) : storedName;
  const [typedName, setTypedName] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const canDelete = confirmsName(typedName, name) && !isBusy;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!canDelete) return;
    setBusy(true);
    try {
      await remove();
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={t`Delete ${name}?`} onClose={onClose}>
      <form class="body" onSubmit={(event) => void submit(event)}>
        <p>{effect}</p>
        <div class="field">
          <label for="delete-name">{rich`Type ${(<b dir="auto">{name}</b>)} to confirm`}</label>
          <input
            id="delete-name"
            class="input"
            data-autofocus
            autocomplete="off"
            spellcheck={false}
            dir="auto"
            value={typedName}
            onInput={(event) => setTypedName(event.currentTarget.value)}
          />
        </div>
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <footer>
          <button type="button" class="btn line" onClick={onClose}>
            {t`Cancel`}
          </button>
          <button type="submit" class="btn danger" aria-disabled={!canDelete}>
            {t`Delete permanently`}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
