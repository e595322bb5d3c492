/* One trigger rule as a form. */

import type { ComponentChildren } from "preact";
import type { TriggerRule } from "../../api/types";
import { Icon } from "../../ui/icons";
import { Options, Switch, TextField } from "../../ui/form-fields";
import { FormProblem } from "../admin/detail-header";
import { COMMANDS, CONDITIONS, newCommand, newCondition, type Command, type Condition } from "./rule-model";
import { inSentence } from "../../ui/words";
import { t } from "../../texts/translate";

interface RuleFormProps {
  /** The prefix of the ids of the controls. */
  id: string;
  rule: TriggerRule;
  problem: string | undefined;
  onChange: (rule: TriggerRule) => void;
  onRemove: () => void;
}

export function RuleForm({ id, rule, problem, onChange, onRemove }: RuleFormProps) {
  const change = (changes: Partial<TriggerRule>) => onChange({ ...rule, ...changes } as TriggerRule);
  return (
    <section class="rule" aria-label={rule.name}>
      <FormProblem text={problem} />
      <div class="with-button">
        <TextField
          id={`${id}-name`}
          label={t`Name`}
          value={rule.name}
          onInput={(name) => change({ name })}
          input={{ dir: "auto" }}
        />
        <RemoveButton label={t`Remove the rule ${rule.name}`} onClick={onRemove} />
      </div>
      <Switch label={t`Enabled`} isOn={rule.enabled} onChange={(enabled) => change({ enabled })} />
      <PartList
        title={t`If all of this holds`}
        addLabel={t`Add a condition`}
        removeLabel={(number) => t`Remove condition ${number}`}
        parts={rule.conditions}
        createPart={() => newCondition("time_on_page")}
        onChange={(conditions) => change({ conditions })}
        render={(condition, replace, index) => (
          <ConditionFields name={t`Condition ${index + 1}`} condition={condition} onChange={replace} />
        )}
      />
      <PartList
        title={t`Do this`}
        addLabel={t`Add a command`}
        removeLabel={(number) => t`Remove command ${number}`}
        parts={rule.commands}
        createPart={() => newCommand("proactive")}
        onChange={(commands) => change({ commands })}
        render={(command, replace, index) => (
          <CommandFields name={t`Command ${index + 1}`} command={command} onChange={replace} />
        )}
      />
    </section>
  );
}

const RemoveButton = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <button type="button" class="btn only-icon" aria-label={label} title={t`Remove`} onClick={onClick}>
    <Icon name="trash-2" />
  </button>
);

interface PartListProps<Part> {
  title: string;
  addLabel: string;
  removeLabel: (number: number) => string;
  parts: readonly Part[];
  createPart: () => Part;
  onChange: (parts: Part[]) => void;
  render: (part: Part, replace: (part: Part) => void, index: number) => ComponentChildren;
}

const MAX_PARTS = 20;

/** The conditions or the commands of a rule. */
function PartList<Part>({ title, addLabel, removeLabel, parts, createPart, onChange, render }: PartListProps<Part>) {
  return (
    <fieldset class="field rule-parts">
      <legend>{title}</legend>
      {parts.map((part, index) => (
        <div key={index} class="rule-part">
          {render(part, (changed) => onChange(parts.map((other, at) => (at === index ? changed : other))), index)}
          <RemoveButton
            label={removeLabel(index + 1)}
            onClick={() => onChange(parts.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {parts.length < MAX_PARTS && (
        <div>
          <button type="button" class="btn" onClick={() => onChange([...parts, createPart()])}>
            <Icon name="plus" />
            {addLabel}
          </button>
        </div>
      )}
    </fieldset>
  );
}

interface OptionSelectProps {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
}

/** A drop-down list. A value that is not among the options is shown as it is. */
function OptionSelect({ label, value, options, onChange }: OptionSelectProps) {
  const isKnown = options.some((option) => option.value === value);
  return (
    <select class="input" aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {!isKnown && <option value={value}>{value || t`Choose…`}</option>}
      <Options options={options} />
    </select>
  );
}

const kindOptions = (kinds: readonly { name: string; label: string }[]) =>
  kinds.map(({ name, label }) => ({ value: name, label }));
const CONDITION_OPTIONS = kindOptions(CONDITIONS);
const COMMAND_OPTIONS = kindOptions(COMMANDS);
const YES_OR_NO = [
  { value: "true", label: t`yes` },
  { value: "false", label: t`no` },
];

interface ConditionFieldsProps {
  name: string;
  condition: Condition;
  onChange: (condition: Condition) => void;
}

function ConditionFields({ name, condition, onChange }: ConditionFieldsProps) {
  const kind = CONDITIONS.find((kind) => kind.name === condition.condition);
  const change = (changes: Partial<Condition>) => onChange({ ...condition, ...changes } as Condition);
  return (
    <>
      <OptionSelect
        label={name}
        value={condition.condition}
        options={CONDITION_OPTIONS}
        onChange={(value) => onChange(newCondition(value))}
      />
      {kind === undefined && <code class="clip">{JSON.stringify(condition.value) ?? ""}</code>}
      {kind !== undefined && kind.comparators.length > 0 && (
        <OptionSelect
          label={t`${name}, comparison`}
          value={String(condition.comparator ?? "")}
          options={kind.comparators}
          onChange={(comparator) => change({ comparator })}
        />
      )}
      {kind?.value === "boolean" && (
        <OptionSelect
          label={t`${name}, value`}
          value={String(condition.value)}
          options={YES_OR_NO}
          onChange={(value) => change({ value: value === "true" })}
        />
      )}
      {(kind?.value === "seconds" || kind?.value === "text") && (
        <input
          class="input"
          aria-label={t`${name}, value`}
          autocomplete="off"
          spellcheck={false}
          dir="ltr"
          inputmode={kind.value === "seconds" ? "decimal" : "text"}
          placeholder={kind.value === "text" ? "/prices" : undefined}
          value={String(condition.value ?? "")}
          onInput={(event) => change({ value: conditionValue(event.currentTarget.value, kind.value === "seconds") })}
        />
      )}
    </>
  );
}

/** Returns the value to store for what was typed: a number if `isNumber` is set and the text is one, otherwise the
 * text. The service rejects other texts in place of a number. */
const conditionValue = (text: string, isNumber: boolean) =>
  isNumber && /^\d+(?:\.\d*[1-9])?$/.test(text.trim()) ? Number(text) : text;

/** Returns whether the widget treats a value as true. */
const isOn = (value: unknown) => Boolean(value) && value !== "false";

interface CommandFieldsProps {
  name: string;
  command: Command;
  onChange: (command: Command) => void;
}

function CommandFields({ name, command, onChange }: CommandFieldsProps) {
  const kind = COMMANDS.find((kind) => kind.name === command.command);
  const params = (typeof command.params === "object" ? (command.params ?? {}) : {}) as Record<string, unknown>;
  const change = (changes: Record<string, unknown>) =>
    onChange({ ...command, params: { ...params, ...changes } } as Command);
  return (
    <>
      <OptionSelect
        label={name}
        value={command.command}
        options={COMMAND_OPTIONS}
        onChange={(value) => onChange(newCommand(value))}
      />
      {kind === undefined && <code class="clip">{JSON.stringify(command.params) ?? ""}</code>}
      {kind?.params.map((param) =>
        param.value === "boolean" ? (
          <label key={param.name}>
            <input
              type="checkbox"
              checked={isOn(params[param.name])}
              onChange={(event) => change({ [param.name]: event.currentTarget.checked })}
            />
            {param.label}
          </label>
        ) : (
          <input
            key={param.name}
            class="input wide"
            aria-label={`${name}, ${inSentence(param.label)}`}
            autocomplete="off"
            dir="auto"
            placeholder={param.label}
            value={String(params[param.name] ?? "")}
            onInput={(event) => change({ [param.name]: event.currentTarget.value })}
          />
        ),
      )}
    </>
  );
}
