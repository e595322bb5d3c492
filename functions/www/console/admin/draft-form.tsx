/* Forms that edit a draft: its values with the controls that change them, and the request that stores it. */

import type { ComponentChildren, RefObject } from "preact";
import { SubmitButtons } from "../../ui/dialog";
import { toast } from "../../ui/toast";
import { DETAIL_FORM_ID, FormProblem } from "./detail-header";
import { useDraft } from "./use-draft";
import { useLeaveGuard } from "./use-leave-guard";
import { problemsOf, useSettingsForm, type Problems } from "./use-settings-form";
import { t } from "../../texts/translate";

/** The names of the values of a draft that are of a type. */
type KeyOf<Draft, Value> = { [Key in keyof Draft]: Draft[Key] extends Value ? Key : never }[keyof Draft] & string;

interface ControlProps<Value> {
  id: string;
  problem: string | undefined;
  value: Value;
}

/** The values of a draft as attributes of the controls of `ui/form-fields`. The id of a control is the name of the value,
 * by which the service's errors name the field. */
export interface Controls<Draft> {
  /** For a `TextField`. */
  text: (key: KeyOf<Draft, string | undefined>) => ControlProps<string> & { onInput: (value: string) => void };
  /** For a `SelectField`. */
  choice: <Key extends keyof Draft & string>(
    key: Key,
  ) => ControlProps<Draft[Key]> & { onChange: (value: Draft[Key]) => void };
  /** For a `Switch`. */
  toggle: (key: KeyOf<Draft, boolean>) => { isOn: boolean; onChange: (isOn: boolean) => void };
}

/** What the components of a form need. */
export interface DraftForm<Draft> extends Controls<Draft> {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  problems: Problems;
  isBusy: boolean;
  element: RefObject<HTMLFormElement | null>;
  onSubmit: (event: Event) => void;
}

function controlsOf<Draft extends object>(
  draft: Draft,
  problems: Problems,
  change: (changes: Partial<Draft>) => void,
): Controls<Draft> {
  const set = (key: keyof Draft) => (value: unknown) => change({ [key]: value } as Partial<Draft>);
  return {
    text: (key) => ({ id: key, problem: problems[key], value: String(draft[key] ?? ""), onInput: set(key) }),
    choice: (key) => ({ id: key, problem: problems[key], value: draft[key], onChange: set(key) }),
    toggle: (key) => ({ isOn: Boolean(draft[key]), onChange: set(key) }),
  };
}

interface FormOptions<Draft> {
  /** The names of the fields that show their own problems. */
  fields: readonly string[];
  /** Returns what is wrong with a draft before it is sent. The service checks the rest. */
  check?: (draft: Draft) => Problems;
}

interface RecordFormOptions<Stored, Draft, Changes> extends FormOptions<Draft> {
  stored: Stored;
  draftOf: (stored: Stored) => Draft;
  /** The names of the draft's values that consist of several settings, each of which is edited separately. */
  groups?: readonly (keyof Draft)[];
  /** Returns what differs from the stored record, so that concurrent changes to the rest are preserved. Undefined if
   * nothing differs. */
  changesOf: (stored: Stored, draft: Draft) => Changes | undefined;
  save: (changes: Changes) => Promise<Stored>;
  onSaved: (stored: Stored, changes: Changes) => void;
  /** What the admin reads after saving. */
  savedText?: (changes: Changes) => string;
  /** Returns the problems after an error. */
  explain?: (error: unknown, draft: Draft) => Problems;
}

/** The form of a stored record, which asks before changes are lost. */
export function useRecordForm<Stored, Draft extends object, Changes>(
  options: RecordFormOptions<Stored, Draft, Changes>,
) {
  const { stored, draftOf, groups = [], fields, check = () => ({}), explain, changesOf } = options;
  const explainDraft = (error: unknown) => explain?.(error, draft) ?? problemsOf(error, fields);
  const { form: element, problems, setProblems, isBusy, send } = useSettingsForm(fields, explainDraft);
  const { draft, setDraft, change, showStored } = useDraft(() => draftOf(stored), groups);
  const changes = changesOf(stored, draft);
  const hasChanges = changes !== undefined;
  useLeaveGuard(hasChanges);

  const submit = async () => {
    if (changes === undefined) return;
    const saved = await send(check(draft), () => options.save(changes));
    if (saved === undefined) return;
    options.onSaved(saved, changes);
    showStored(draftOf(saved));
    toast(options.savedText?.(changes) ?? t`Saved. It applies within ten seconds.`);
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void submit();
  };
  const onDiscard = () => {
    setDraft(draftOf(stored));
    setProblems({});
  };
  const controls = controlsOf(draft, problems, change);
  /** The state of the buttons in the page's header. */
  const buttons = { hasChanges, isBusy, onDiscard };
  return { ...controls, draft, setDraft, change, problems, isBusy, element, onSubmit, hasChanges, buttons };
}

/** The element of a record's form. The buttons that submit it are in the header of the page. */
export function RecordForm<Draft>({ form, children }: { form: DraftForm<Draft>; children: ComponentChildren }) {
  return (
    <form ref={form.element} id={DETAIL_FORM_ID} noValidate onSubmit={form.onSubmit}>
      <FormProblem text={form.problems[""]} />
      {children}
    </form>
  );
}

interface NewRecordFormOptions<Draft, Created> extends FormOptions<Draft> {
  initial: () => Draft;
  create: (draft: Draft) => Promise<Created>;
  onCreated: (created: Created) => void;
}

/** The form of a dialog that creates a record. */
export function useNewRecordForm<Draft extends object, Created>(options: NewRecordFormOptions<Draft, Created>) {
  const { fields, initial, check = () => ({}), create, onCreated } = options;
  const { form: element, problems, isBusy, send } = useSettingsForm(fields);
  const { draft, change } = useDraft(initial);
  const submit = async () => {
    const created = await send(check(draft), () => create(draft));
    if (created !== undefined) onCreated(created);
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void submit();
  };
  return { ...controlsOf(draft, problems, change), draft, change, problems, isBusy, element, onSubmit };
}

interface NewRecordFormProps<Draft> {
  form: DraftForm<Draft>;
  /** The caption of the button that sends the form, and the one while the request runs. */
  label: string;
  busyLabel: string;
  onCancel: () => void;
  children: ComponentChildren;
}

/** The element of a form in a dialog, with its buttons. */
export function NewRecordForm<Draft>({ form, label, busyLabel, onCancel, children }: NewRecordFormProps<Draft>) {
  return (
    <form ref={form.element} class="body scroll" noValidate onSubmit={form.onSubmit}>
      <FormProblem text={form.problems[""]} />
      {children}
      <SubmitButtons isBusy={form.isBusy} label={label} busyLabel={busyLabel} onCancel={onCancel} />
    </form>
  );
}
