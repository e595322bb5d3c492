/* The export of one chat, or of the chats that were closed in a range of days. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { Segments, SelectField, TextField } from "../../ui/form-fields";
import { FormProblem, FormSection } from "../admin/detail-header";
import { useLeaveGuard } from "../admin/use-leave-guard";
import { useLoaded } from "../admin/use-loaded";
import { fieldProblem } from "../admin/use-settings-form";
import { leavePage } from "../state/page/leave-guard";
import { useWorkspace } from "../workspace-context";
import { exportFileName, exportQuery, type ExportDraft } from "./chat-export";
import { ExportButtons, ExportStatus, FormatField } from "./export-status";
import { useChatExport } from "./use-chat-export";
import { t } from "../../texts/translate";

const DEFAULT_DAYS = 30;
const FIELDS = ["chat_id", "from", "to", "channel_id"];

/** Returns the day `daysAgo` days before today as the value of a `date` field. */
function dayField(daysAgo: number): string {
  const day = new Date();
  day.setDate(day.getDate() - daysAgo);
  const twoDigits = (number: number) => String(number).padStart(2, "0");
  return `${day.getFullYear()}-${twoDigits(day.getMonth() + 1)}-${twoDigits(day.getDate())}`;
}

const UNSAVED_EXPORT = {
  title: t`Discard the export?`,
  text: t`What has been read is not saved, or not complete.`,
  stay: t`Keep it`,
  leave: t`Discard`,
};

const newDraft = (): ExportDraft => ({
  what: "range",
  chat: "",
  from: dayField(DEFAULT_DAYS - 1),
  to: dayField(0),
  channelId: "",
  format: "json",
});

export function ExportPage({ tabs }: { tabs: ComponentChildren }) {
  const [draft, setDraft] = useState(newDraft);
  const [found, setFound] = useState<{ field: string; problem: string }>();
  const run = useChatExport();
  const isRunning = run.phase === "running" || run.phase === "stopping";
  useLeaveGuard(run.isUnsaved, UNSAVED_EXPORT);
  const change = (changes: Partial<ExportDraft>) => {
    // If the export is unsaved, the fields show the previous choice until the admin agrees to discard it.
    setDraft({ ...draft });
    leavePage(() => {
      setDraft({ ...draft, ...changes });
      setFound(undefined);
      run.reset();
    });
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (isRunning) return;
    const query = exportQuery(draft);
    if ("problem" in query) {
      setFound(query);
      document.getElementById(query.field)?.focus();
      return;
    }
    leavePage(() => run.start(query, draft.format, exportFileName(draft)));
  };
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (run.error !== undefined && run.phase === "idle")
      form.current?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]")?.focus();
  }, [run.error, run.phase]);
  const refused = run.error instanceof ApiError && FIELDS.includes(run.error.field ?? "") ? run.error : undefined;
  const problemOf = (field: string) =>
    found?.field === field ? found.problem : refused?.field === field ? fieldProblem(refused) : undefined;
  return (
    <div class="detail-page">
      <header class="detail-header settings-header">
        <h2>{t`Export chats`}</h2>
        {tabs}
      </header>
      <div class="detail-settings scroll">
        <form ref={form} noValidate onSubmit={submit}>
          <FormSection title={t`Choose the chats`}>
            <ExportFields draft={draft} isDisabled={isRunning} problemOf={problemOf} change={change} />
            <p class="quiet-text">
              {t`The file contains all messages, private notes and events, with the names of visitors. Links are not replaced.`}
            </p>
            <ExportStatus {...run} />
            {refused === undefined && <FormProblem text={run.problem} />}
            <div class="export-buttons">
              {(run.phase === "idle" || run.phase === "done") && (
                <button type="submit" class={run.phase === "done" ? "btn line" : "btn primary"}>
                  {run.phase === "done" ? t`Export again` : t`Export`}
                </button>
              )}
              <ExportButtons {...run} />
            </div>
          </FormSection>
        </form>
      </div>
    </div>
  );
}

interface ExportFieldsProps {
  draft: ExportDraft;
  isDisabled: boolean;
  problemOf: (field: string) => string | undefined;
  change: (changes: Partial<ExportDraft>) => void;
}

/** Which chats are exported, and in which format. */
function ExportFields({ draft, isDisabled, problemOf, change }: ExportFieldsProps) {
  const { api } = useWorkspace();
  const channels = useLoaded(async () => (await api.get("/admin/channels")).channels).value ?? [];
  return (
    <fieldset class="export-fields" disabled={isDisabled}>
      <Segments
        name="what"
        label={t`What`}
        value={draft.what}
        options={[
          { value: "range", label: t`Closed chats` },
          { value: "chat", label: t`One chat` },
        ]}
        onChange={(what) => change({ what })}
      />
      {draft.what === "chat" ? (
        <TextField
          id="chat_id"
          label={t`Number of the chat`}
          help={t`The chat may be open.`}
          problem={problemOf("chat_id")}
          value={draft.chat}
          onInput={(chat) => change({ chat })}
          input={{ inputmode: "numeric" }}
        />
      ) : (
        <>
          <div class="two-fields">
            {(["from", "to"] as const).map((name) => (
              <TextField
                key={name}
                id={name}
                label={name === "from" ? t`Closed from` : t`To`}
                problem={problemOf(name)}
                value={draft[name]}
                onInput={(day) => change({ [name]: day })}
                input={{ type: "date" }}
              />
            ))}
          </div>
          <p class="quiet-text">
            {t`Both days are included, in your time zone. A chat that was changed after it was closed, for example by a note, counts with the time of the change.`}
          </p>
          {channels.length > 1 && (
            <SelectField
              id="channel_id"
              label={t`Channel`}
              problem={problemOf("channel_id")}
              value={draft.channelId}
              options={[
                { value: "", label: t`Any channel` },
                ...channels.map(({ channel_id, name }) => ({ value: channel_id, label: name })),
              ]}
              onChange={(channelId) => change({ channelId })}
            />
          )}
        </>
      )}
      <FormatField value={draft.format} onChange={(format) => change({ format })} />
    </fieldset>
  );
}
