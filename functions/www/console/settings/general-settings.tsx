/* The general settings of the account. The ids of the controls are the field names in the service's errors. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { AccountSettings } from "../../api/types";
import { Field, SelectField, Switch, TextField } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { DETAIL_FORM_ID, FormProblem, FormSection } from "../admin/detail-header";
import { parseSites } from "../admin/parse-sites";
import { useDraft } from "../admin/use-draft";
import { useLeaveGuard } from "../admin/use-leave-guard";
import { problemsOf, useSettingsForm, type Problems } from "../admin/use-settings-form";
import { overlay } from "../state/view-state";
import { useWorkspace } from "../workspace-context";
import { CallbackFields } from "./callback-fields";
import {
  changesOf,
  draftOf,
  draftProblems,
  idleCloseText,
  RETENTION_TIMES,
  retentionText,
  timeZoneNames,
  type SettingsDraft,
} from "./settings-draft";
import { SettingsHeader, SettingsPage } from "./settings-page";

const LIMITS = [
  { name: "visitor_messages", label: "Messages of one visitor", max: 1000 },
  { name: "bot_requests", label: "Requests of one bot", max: 10_000 },
  { name: "channel_chats", label: "Chats that one channel opens", max: 10_000 },
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
];
const GROUPS = ["limits", "callback"] as const;
const DEFAULT_IDLE_MINUTES = "1440";
const DEFAULT_RETENTION_DAYS = "180";
const RETENTION_OPTIONS = [
  { value: "", label: "Without limit" },
  ...RETENTION_TIMES.map(({ days, label }) => ({ value: days, label })),
  { value: "other", label: "Another time" },
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
  const { form, problems, setProblems, isBusy, send } = useSettingsForm(FIELD_NAMES, (error) =>
    explainError(error, draft),
  );
  const { draft, setDraft, change, showStored } = useDraft(() => draftOf(settings), GROUPS);
  const timeZones = useMemo(() => timeZoneNames(settings.time_zone), [settings.time_zone]);
  const changes = changesOf(settings, draft);
  const hasChanges = changes !== undefined;
  useLeaveGuard(hasChanges);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (changes === undefined) return;
    const stored = await send(draftProblems(draft), () => api.put("/admin/settings", { body: changes }));
    if (stored === undefined) return;
    onStored(stored);
    showStored(draftOf(stored));
    toast("Saved. It applies within ten seconds.");
  };
  const discard = () => {
    setDraft(draftOf(settings));
    setProblems({});
  };
  return (
    <div class="detail-page">
      <SettingsHeader tabs={tabs} form={{ hasChanges, isBusy, onDiscard: discard }} />
      <div class="detail-settings scroll">
        <form ref={form} id={DETAIL_FORM_ID} noValidate onSubmit={(event) => void submit(event)}>
          <FormProblem text={problems[""]} />
          <SafeUrlSection draft={draft} problems={problems} change={change} />
          <TimesSection draft={draft} problems={problems} change={change} />
          <FormSection title="Time zone">
            <SelectField
              id="time_zone"
              label="Time zone of the account"
              help="The days of reports and the callback hours follow it. In reports, a change applies to chats that are opened after it."
              problem={problems["time_zone"]}
              value={draft.timeZone}
              options={timeZones.map((name) => ({ value: name, label: name.replaceAll("_", " ") }))}
              onChange={(timeZone) => change({ timeZone })}
            />
          </FormSection>
          <FormSection title="Limits for ten seconds">
            {LIMITS.map(({ name, label, max }) => (
              <TextField
                key={name}
                id={`limits.${name}`}
                label={label}
                help={`From 1 to ${max.toLocaleString("en")}.`}
                problem={problems[`limits.${name}`]}
                value={draft.limits[name]}
                onInput={(text) => change({ limits: { ...draft.limits, [name]: text } })}
                input={{ inputmode: "numeric" }}
              />
            ))}
          </FormSection>
          <FormSection title="Callback hours">
            <CallbackFields
              callback={draft.callback}
              timeZone={draft.timeZone}
              problems={problems}
              onChange={(callback) => change({ callback })}
            />
          </FormSection>
        </form>
        <FormSection title="Canned replies">
          <p class="quiet-text">Texts that agents insert by typing a slash and a shortcut.</p>
          <div>
            <button type="button" class="btn line" onClick={() => (overlay.value = { kind: "canned" })}>
              <Icon name="square-slash" />
              Manage canned replies…
            </button>
          </div>
        </FormSection>
      </div>
    </div>
  );
}

/** Returns the problems after an error. The problem of a domain names the domain. */
function explainError(error: unknown, { domains }: SettingsDraft): Problems {
  const problems = problemsOf(error, FIELD_NAMES);
  const index = error instanceof ApiError ? /^safe_urls\[(\d+)\]$/.exec(error.field ?? "")?.[1] : undefined;
  const domain = index === undefined ? undefined : parseSites(domains)[Number(index)];
  if (domain === undefined) return problems;
  return { safe_urls: (problems["safe_urls"] ?? "").replace(/^Entry \d+/, `“${domain}”`) };
}

interface SectionProps {
  draft: SettingsDraft;
  problems: Problems;
  change: (changes: Partial<SettingsDraft>) => void;
}

function SafeUrlSection({ draft, problems, change }: SectionProps) {
  return (
    <FormSection title="Safe URL">
      <Field
        id="safe_urls"
        label="Allowed domains"
        help="One on each line, with their subdomains. Agents see [link blocked] in place of other links from visitors, bots and webhooks. Without domains, they see every link."
        problem={problems["safe_urls"]}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            class="input"
            rows={4}
            spellcheck={false}
            dir="ltr"
            placeholder={"shop.example\ncrm.example"}
            value={draft.domains}
            onInput={(event) => change({ domains: event.currentTarget.value })}
          />
        )}
      </Field>
    </FormSection>
  );
}

function TimesSection({ draft, problems, change }: SectionProps) {
  const { idleClose, retentionDays, hasOwnRetention } = draft;
  return (
    <FormSection title="How long chats stay">
      <Switch
        label="Close idle chats"
        isOn={idleClose !== undefined}
        onChange={(isOn) => change({ idleClose: isOn ? DEFAULT_IDLE_MINUTES : undefined })}
      />
      {idleClose !== undefined && (
        <TextField
          id="idle_close"
          label="Minutes without a message"
          problem={problems["idle_close"]}
          value={idleClose}
          onInput={(idleClose) => change({ idleClose })}
          input={{ inputmode: "numeric" }}
        />
      )}
      <p class="quiet-text">{idleCloseText(idleClose)}</p>
      <SelectField
        id={hasOwnRetention ? "retention-choice" : "retention_days"}
        label="Keep messages and chats"
        problem={hasOwnRetention ? undefined : problems["retention_days"]}
        value={hasOwnRetention ? "other" : (retentionDays ?? "")}
        options={RETENTION_OPTIONS}
        onChange={(value) =>
          change(
            value === "other"
              ? { hasOwnRetention: true, retentionDays: retentionDays ?? DEFAULT_RETENTION_DAYS }
              : { hasOwnRetention: false, retentionDays: value === "" ? undefined : value },
          )
        }
      />
      {hasOwnRetention && (
        <TextField
          id="retention_days"
          label="Days"
          problem={problems["retention_days"]}
          value={retentionDays ?? ""}
          onInput={(retentionDays) => change({ retentionDays })}
          input={{ inputmode: "numeric" }}
        />
      )}
      <p class="quiet-text">{retentionText(retentionDays)}</p>
    </FormSection>
  );
}
