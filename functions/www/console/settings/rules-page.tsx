/* The trigger rules of the widget: a form, and beside it the JSON in which they are exported and imported. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { AccountSettings, TriggerRule } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { Field } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { saveFile } from "../../ui/save-file";
import { toast } from "../../ui/toast";
import { DETAIL_FORM_ID, FormProblem, PageHeader } from "../admin/detail-header";
import { EmptyList } from "../admin/list-page";
import { useLeaveGuard } from "../admin/use-leave-guard";
import { useSettingsForm, type Problems } from "../admin/use-settings-form";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { RuleForm } from "./rule-form";
import { formatRules, newRule, parseRules, ruleErrorText, ruleIndex, ruleProblems } from "./rule-model";
import { SettingsPage } from "./settings-page";
import { t } from "../../texts/translate";

const MAX_RULES = 50;
const JSON_FIELD_ID = "rules-json";

export const RulesPage = ({ tabs }: { tabs: ComponentChildren }) => (
  <SettingsPage tabs={tabs}>
    {(settings, onStored) => <RulesForm tabs={tabs} stored={settings.rules} onStored={onStored} />}
  </SettingsPage>
);

interface RulesFormProps {
  tabs: ComponentChildren;
  stored: readonly TriggerRule[];
  onStored: (settings: AccountSettings) => void;
}

function RulesForm({ tabs, stored, onStored }: RulesFormProps) {
  const { api } = useWorkspace();
  const { form, problems, setProblems, isBusy, send } = useSettingsForm([], explainError);
  const [rules, setRules] = useState<readonly TriggerRule[]>(stored);
  /** The JSON as it is typed. While it is invalid, the form shows the previous rules. */
  const [text, setText] = useState(() => formatRules(stored));
  /** The current text, which `submit` compares with the text that it has sent. */
  const currentText = useRef(text);
  currentText.current = text;
  const [jsonProblem, setJsonProblem] = useState<string>();
  const hasChanges = jsonProblem !== undefined || JSON.stringify(rules) !== JSON.stringify(stored);
  useLeaveGuard(hasChanges);

  const show = (rules: readonly TriggerRule[]) => {
    setRules(rules);
    setText(formatRules(rules));
    setJsonProblem(undefined);
    setProblems({});
  };
  const type = (typed: string) => {
    setText(typed);
    setProblems({});
    const parsed = parseRules(typed);
    setJsonProblem("problem" in parsed ? parsed.problem : undefined);
    if ("rules" in parsed) setRules(parsed.rules);
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!hasChanges) return;
    if (jsonProblem !== undefined) return document.getElementById(JSON_FIELD_ID)?.focus();
    const settings = await send(ruleProblems(rules), () => api.put("/admin/settings", { body: { rules: [...rules] } }));
    if (settings === undefined) return;
    onStored(settings);
    // If the admin has typed during the request, keep the typed text instead of showing the stored rules.
    if (currentText.current === text) show(settings.rules);
    toast(t`Saved. Pages that are opened from now on use the rules.`);
  };
  return (
    <div class="detail-page rules-page">
      <PageHeader title={t`Settings`} tabs={tabs} form={{ hasChanges, isBusy, onDiscard: () => show(stored) }} />
      <form ref={form} id={DETAIL_FORM_ID} class="rules scroll" noValidate onSubmit={(event) => void submit(event)}>
        <FormProblem text={problems[""]} />
        <p class="quiet-text">{t`What the chat window does by itself. Each rule applies at most once on a page.`}</p>
        <RuleList rules={rules} problems={problems} isDisabled={jsonProblem !== undefined} onChange={show} />
      </form>
      <JsonPane text={text} problem={jsonProblem} onInput={type} />
    </div>
  );
}

/** Returns the problem of a rule by its index, and any other problem as that of the form. */
function explainError(error: unknown): Problems {
  if (!(error instanceof ApiError) || error.status !== 400) return { "": errorText(error) };
  const index = ruleIndex(error.field);
  return { [index === undefined ? "" : String(index)]: `${ruleErrorText(error.message)}.` };
}

interface RuleListProps {
  rules: readonly TriggerRule[];
  problems: Problems;
  isDisabled: boolean;
  onChange: (rules: readonly TriggerRule[]) => void;
}

function RuleList({ rules, problems, isDisabled, onChange }: RuleListProps) {
  const replace = (index: number, rule: TriggerRule | undefined) =>
    onChange(rules.flatMap((other, at) => (at !== index ? [other] : rule === undefined ? [] : [rule])));
  return (
    <fieldset class="rule-list" disabled={isDisabled}>
      <legend class="sr">{t`Rules`}</legend>
      {rules.length === 0 && (
        <EmptyList
          icon="message-square"
          title={t`There are no rules`}
          text={t`A rule invites visitors, for example.`}
        />
      )}
      {rules.map((rule, index) => (
        <RuleForm
          key={index}
          id={`rule-${index}`}
          rule={rule}
          problem={problems[index]}
          onChange={(rule) => replace(index, rule)}
          onRemove={() => replace(index, undefined)}
        />
      ))}
      {rules.length < MAX_RULES && (
        <div>
          <button
            type="button"
            class="btn line"
            onClick={() => onChange([...rules, newRule(t`Rule ${rules.length + 1}`)])}
          >
            <Icon name="plus" />
            {t`Add a rule`}
          </button>
        </div>
      )}
    </fieldset>
  );
}

interface JsonPaneProps {
  text: string;
  problem: string | undefined;
  onInput: (text: string) => void;
}

/** The rules as JSON. It can be typed, copied, saved as a file, and read from one. */
function JsonPane({ text, problem, onInput }: JsonPaneProps) {
  const file = useRef<HTMLInputElement>(null);
  const download = () => saveFile("trigger-rules.json", "application/json", [text]);
  const read = async () => {
    const chosen = file.current?.files?.[0];
    if (chosen === undefined) return;
    try {
      const imported = await chosen.text();
      const parsed = parseRules(imported);
      if ("problem" in parsed) toast(t`${chosen.name} was not imported. ${parsed.problem}`, { isBad: true });
      else onInput(imported);
    } catch {
      toast(t`${chosen.name} could not be read.`, { isBad: true });
    }
    if (file.current !== null) file.current.value = "";
  };
  return (
    <section class="json-pane" aria-label="JSON">
      <div class="json-bar">
        <CopyButton text={text} label={t`Copy the JSON`} caption={t`Copy`} />
        <button type="button" class="btn line" onClick={download}>
          {t`Export`}
        </button>
        <button type="button" class="btn line" onClick={() => file.current?.click()}>
          {t`Import…`}
        </button>
        <input
          ref={file}
          type="file"
          hidden
          accept="application/json,.json"
          aria-label={t`File with rules`}
          onChange={() => void read()}
        />
      </div>
      <Field
        id={JSON_FIELD_ID}
        label={t`The rules as JSON`}
        help={t`As setRules of the widget accepts it.`}
        problem={problem}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            class="input"
            spellcheck={false}
            dir="ltr"
            rows={12}
            value={text}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )}
      </Field>
    </section>
  );
}
