/* Values that the service shows only once, and their replacement. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CopyButton } from "../../ui/copy-button";
import { Dialog, SubmitButtons } from "../../ui/dialog";
import { Field } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { errorText } from "../state/page/error-text";
import { ShownOnceDialog } from "./shown-once-dialog";
import { useRequestGuard } from "./use-leave-guard";
import { t } from "../../texts/translate";

/** A line of code with a button that copies it. `name` is what is copied, such as "the address". */
export function CodeLine({ name, text }: { name: string; text: string }) {
  return (
    <div class="code-line">
      <code>{text}</code>
      <CopyButton text={text} label={t`Copy ${name}`} />
    </div>
  );
}

/** A labelled value that can be copied. */
export function CopyField({ label, name, text }: { label: string; name: string; text: string }) {
  return (
    <div class="field">
      <span class="label">{label}</span>
      <CodeLine name={name} text={text} />
    </div>
  );
}

const KEPT_TIMES = [
  { seconds: 0, label: t`End now` },
  { seconds: 3600, label: t`One hour` },
  { seconds: 86_400, label: t`One day` },
  { seconds: 604_800, label: t`Seven days` },
  { seconds: 2_592_000, label: t`30 days` },
] as const;
const DEFAULT_KEPT_SECONDS = 86_400;

/** What the dialog says of the value that is replaced. */
interface RotationTexts {
  /** The button, for example "Create a new address". */
  create: string;
  /** For example "How long the old address stays valid". */
  keptTime: string;
  /** For example "The new address". */
  created: string;
}
interface RotationProps {
  title: string;
  texts: RotationTexts;
  explanation: string;
  /** Replaces the value and keeps the previous one valid for `keptSeconds`. Returns what is shown afterwards. */
  rotate: (keptSeconds: number) => Promise<Rotated>;
  onClose: () => void;
}
export interface Rotated {
  /** Tells the admin what applies to the previous value from now on. */
  note: string;
  /** The new value. */
  view: ComponentChildren;
}

/** A dialog that asks before it replaces a secret value, and then shows the new one. */
export function RotationDialog({ title, texts, explanation, rotate, onClose }: RotationProps) {
  const [keptSeconds, setKeptSeconds] = useState<number>(DEFAULT_KEPT_SECONDS);
  const [isBusy, setBusy] = useState(false);
  useRequestGuard(isBusy);
  const [problem, setProblem] = useState<string>();
  const [rotated, setRotated] = useState<Rotated>();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      setRotated(await rotate(keptSeconds));
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  if (rotated !== undefined)
    return (
      <ShownOnceDialog key="rotated" title={texts.created} class="wide-dialog" onClose={onClose}>
        <p class="quiet-text">{t`It is shown only now. ${rotated.note}`}</p>
        {rotated.view}
      </ShownOnceDialog>
    );
  return (
    <Dialog key="question" title={title} isLocked={isBusy} onClose={onClose}>
      <form class="body" onSubmit={(event) => void submit(event)}>
        <p>{explanation}</p>
        <Field id="kept-seconds" label={texts.keptTime}>
          {(attributes) => (
            <select
              {...attributes}
              class="input"
              data-autofocus
              value={String(keptSeconds)}
              onChange={(event) => setKeptSeconds(Number(event.currentTarget.value))}
            >
              {KEPT_TIMES.map(({ seconds, label }) => (
                <option key={seconds} value={String(seconds)}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        {keptSeconds === 0 && (
          <p class="notice">
            <Icon name="triangle-alert" />
            {t`All earlier values end within ten seconds. Use this if one has leaked.`}
          </p>
        )}
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <SubmitButtons isBusy={isBusy} label={texts.create} busyLabel={t`Replacing…`} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
