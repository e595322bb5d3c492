/* The general settings of the account. The ids of the controls are the field names in the service's errors. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { AccountSettings } from "../../api/types";
import { NUMBER_INPUT, SelectField, Switch, TextAreaField, TextField } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { timeZoneNames } from "../../ui/time-zones";
import { ANSWER_FIELDS, ASSIGNMENT_FIELDS } from "../admin/assignment-draft";
import { AnswerTimesFields, AssignmentFields } from "../admin/assignment-fields";
import { BusinessHoursFields } from "../admin/business-hours";
import { HOURS_FIELDS } from "../admin/business-hours-draft";
import { FormSection, PageHeader } from "../admin/detail-header";
import { RecordForm, useRecordForm, type DraftForm } from "../admin/draft-form";
import { parseSites } from "../admin/parse-sites";
import { problemsOf, type Problems } from "../admin/use-settings-form";
import { overlay } from "../state/list/view-state";
import { useWorkspace } from "../workspace-context";
import { CallbackFields } from "./callback-fields";
import { EMAIL_FIELDS } from "./email-draft";
import { EmailSection } from "./email-section";
import {
  changesOf,
  draftOf,
  draftProblems,
  idleCloseText,
  RETENTION_TIMES,
  retentionText,
  type SettingsDraft,
} from "./settings-draft";
import { SettingsPage } from "./settings-page";
import { TagsSection } from "./tags-section";
import { language, t } from "../../texts/translate";

const LIMITS = [
  { name: "visitor_messages", label: t`Messages of one visitor`, max: 1000 },
  { name: "bot_requests", label: t`Requests of one bot`, max: 10_000 },
  { name: "channel_chats", label: t`Chats that one channel opens`, max: 10_000 },
] as const;
const FIELD_NAMES = [
  "safe_urls",
  ...LIMITS.map(({ name }) => `limits.${name}`),
  "idle_close",
  "retention_days",
  "time_zone",
  "callback.days",
  "callback.from",
  "callback.to",
  "callback.utc_offset",
  "files.max_size_bytes",
  "files.link_days",
  "tags",
  ...HOURS_FIELDS,
  ...ASSIGNMENT_FIELDS,
  ...ANSWER_FIELDS,
  ...EMAIL_FIELDS,
];
const GROUPS = ["limits", "callback", "files"] as const;
const DEFAULT_IDLE_MINUTES = "1440";
const DEFAULT_RETENTION_DAYS = "180";
const RETENTION_OPTIONS = [
  { value: "", label: t`Without limit` },
  ...RETENTION_TIMES.map(({ days, label }) => ({ value: days, label })),
  { value: "other", label: t`Another time` },
];

export const GeneralSettings = ({ tabs }: { tabs: ComponentChildren }) => (
  <SettingsPage tabs={tabs}>
    {(settings, onStored) => <GeneralForm tabs={tabs} settings={settings} onStored={onStored} />}
  </SettingsPage>
);

interface GeneralFormProps {
  tabs: ComponentChildren;
  settings: AccountSettings;
  onStored: (settings: AccountSettings) => void;
}

function GeneralForm({ tabs, settings, onStored }: GeneralFormProps) {
  const { api } = useWorkspace();
  const form = useRecordForm({
    stored: settings,
    fields: FIELD_NAMES,
    groups: GROUPS,
    draftOf,
    changesOf,
    check: draftProblems,
    explain: explainError,
    save: (changes) => api.put("/admin/settings", { body: changes }),
    onSaved: onStored,
  });
  return (
    <div class="detail-page">
      <PageHeader title={t`Settings`} tabs={tabs} form={form.buttons} />
      <div class="detail-settings scroll">
        <RecordForm form={form}>
          <SafeUrlSection form={form} />
          <TimesSection form={form} />
          <TimeZoneSection form={form} stored={settings.time_zone} />
          <TagsSection form={form} />
          <FilesSection form={form} />
          <LimitsSection form={form} />
          <AssignmentSection form={form} />
          <EmailSection
            email={form.draft.email}
            domain={settings.email_domain}
            problems={form.problems}
            onChange={(email) => form.change({ email })}
          />
          <FormSection title={t`Business hours`}>
            <BusinessHoursFields
              hours={form.draft.business_hours}
              stored={settings.business_hours}
              withoutHours={t`Outside them, channels are closed even if agents are online. Departments and channels can have hours of their own.`}
              timeZone={form.draft.time_zone}
              problems={form.problems}
              onChange={(business_hours) => form.change({ business_hours })}
            />
          </FormSection>
          <FormSection title={t`Callback hours`}>
            <CallbackFields
              callback={form.draft.callback}
              timeZone={form.draft.time_zone}
              problems={form.problems}
              onChange={(callback) => form.change({ callback })}
            />
          </FormSection>
        </RecordForm>
        <FormSection title={t`Canned replies`}>
          <p class="quiet-text">{t`Texts that agents insert by typing a slash and a shortcut.`}</p>
          <div>
            <button type="button" class="btn line" onClick={() => (overlay.value = { kind: "canned" })}>
              <Icon name="square-slash" />
              {t`Manage canned replies…`}
            </button>
          </div>
        </FormSection>
      </div>
    </div>
  );
}

/** Returns the problems after an error. The problem of a domain names the domain. */
function explainError(error: unknown, { safe_urls }: SettingsDraft): Problems {
  const problems = problemsOf(error, FIELD_NAMES);
  const index = error instanceof ApiError ? /^safe_urls\[(\d+)\]$/.exec(error.field ?? "")?.[1] : undefined;
  const domain = index === undefined ? undefined : parseSites(safe_urls)[Number(index)];
  if (domain === undefined) return problems;
  return { safe_urls: (problems["safe_urls"] ?? "").replace(/^Entry \d+/, `“${domain}”`) };
}

interface SectionProps {
  form: DraftForm<SettingsDraft>;
}

function SafeUrlSection({ form }: SectionProps) {
  return (
    <FormSection title={t`Safe URL`}>
      <TextAreaField
        {...form.text("safe_urls")}
        label={t`Allowed domains`}
        help={t`One on each line, with their subdomains. Agents see [link blocked] in place of other links from visitors, bots and webhooks. Without domains, they see every link.`}
        area={{ rows: 4, spellcheck: false, dir: "ltr", placeholder: "shop.example\ncrm.example" }}
      />
    </FormSection>
  );
}

function TimesSection({ form }: SectionProps) {
  const { idle_close, retention_days, hasOwnRetention } = form.draft;
  return (
    <FormSection title={t`How long chats stay`}>
      <Switch
        label={t`Close idle chats`}
        isOn={idle_close !== undefined}
        onChange={(isOn) => form.change({ idle_close: isOn ? DEFAULT_IDLE_MINUTES : undefined })}
      />
      {idle_close !== undefined && (
        <TextField {...form.text("idle_close")} label={t`Minutes without a message`} input={NUMBER_INPUT} />
      )}
      <p class="quiet-text">{idleCloseText(idle_close)}</p>
      <SelectField
        id={hasOwnRetention ? "retention-choice" : "retention_days"}
        label={t`Keep messages and chats`}
        problem={hasOwnRetention ? undefined : form.problems["retention_days"]}
        value={hasOwnRetention ? "other" : (retention_days ?? "")}
        options={RETENTION_OPTIONS}
        onChange={(value) =>
          form.change(
            value === "other"
              ? { hasOwnRetention: true, retention_days: retention_days ?? DEFAULT_RETENTION_DAYS }
              : { hasOwnRetention: false, retention_days: value === "" ? undefined : value },
          )
        }
      />
      {hasOwnRetention && <TextField {...form.text("retention_days")} label={t`Days`} input={NUMBER_INPUT} />}
      <p class="quiet-text">{retentionText(retention_days)}</p>
    </FormSection>
  );
}

function TimeZoneSection({ form, stored }: SectionProps & { stored: string }) {
  const timeZones = useMemo(() => timeZoneNames(stored), [stored]);
  return (
    <FormSection title={t`Time zone`}>
      <SelectField
        {...form.choice("time_zone")}
        label={t`Time zone of the account`}
        help={t`The days of reports and the callback hours follow it. In reports, a change applies to chats that are opened after it.`}
        options={timeZones.map((name) => ({ value: name, label: name.replaceAll("_", " ") }))}
      />
    </FormSection>
  );
}

function FilesSection({ form }: SectionProps) {
  const { files } = form.draft;
  const number = (name: "megabytes" | "link_days", field: string) => ({
    id: field,
    problem: form.problems[field],
    value: files[name],
    onInput: (text: string) => form.change({ files: { ...files, [name]: text } }),
    input: NUMBER_INPUT,
  });
  return (
    <FormSection title={t`Files`}>
      <Switch
        label={t`Agents, visitors and bots can send files`}
        isOn={files.enabled}
        onChange={(enabled) => form.change({ files: { ...files, enabled } })}
      />
      {files.enabled && (
        <TextField
          {...number("megabytes", "files.max_size_bytes")}
          label={t`Largest file in MB`}
          help={t`From 1 to 100.`}
        />
      )}
      <TextField
        {...number("link_days", "files.link_days")}
        label={t`Days for which links work`}
        help={t`Your own servers, bots and webhooks get files as links. The console and the widget renew theirs.`}
      />
    </FormSection>
  );
}

function AssignmentSection({ form }: SectionProps) {
  const { assignment, answer_times } = form.draft;
  return (
    <FormSection title={t`Assignment and answer times`}>
      <AssignmentFields
        assignment={assignment}
        label={t`Assign chats and limit the chats of agents`}
        help={t`Otherwise, agents accept chats by hand and can have any number of them. Departments can have another rule.`}
        hasCapacity
        problems={form.problems}
        onChange={(changed) => form.change({ assignment: changed })}
      />
      <AnswerTimesFields
        times={answer_times}
        label={t`Time limits for answers`}
        help={t`The lists mark chats whose answer is due. The limits do not run outside the business hours.`}
        problems={form.problems}
        onChange={(changed) => form.change({ answer_times: changed })}
      />
    </FormSection>
  );
}

function LimitsSection({ form }: SectionProps) {
  const { limits } = form.draft;
  return (
    <FormSection title={t`Limits for ten seconds`}>
      {LIMITS.map(({ name, label, max }) => (
        <TextField
          key={name}
          id={`limits.${name}`}
          label={label}
          help={t`From 1 to ${max.toLocaleString(language)}.`}
          problem={form.problems[`limits.${name}`]}
          value={limits[name]}
          onInput={(text) => form.change({ limits: { ...limits, [name]: text } })}
          input={NUMBER_INPUT}
        />
      ))}
    </FormSection>
  );
}
