/* The progress of an export, and its buttons. */

import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { Segments } from "../../ui/form-fields";
import type { ExportFormat } from "./chat-export";
import { formatCount, formatUnits } from "./report-model";
import type { ChatExportState } from "./use-chat-export";
import { plural, t } from "../../texts/translate";

export function ExportStatus({ phase, progress }: Pick<ChatExportState, "phase" | "progress">) {
  const { chats, entries } = progress;
  const message = useRef<HTMLParagraphElement>(null);
  // Move the focus, because the button that had it is gone, and there is nothing to save.
  useEffect(() => {
    if (phase === "done" && entries === 0) message.current?.focus();
  }, [phase]);
  if (phase === "idle") return null;
  const entryText = plural(entries, "{count} entry", "{count} entries", { count: formatCount(entries) });
  const read = chats === undefined ? entryText : t`${formatUnits(chats, "chats")} with ${entryText}`;
  return (
    <div class="task-progress" role="status">
      <progress
        aria-label={t`Progress`}
        {...(phase === "done" ? { value: 1 } : phase === "stopped" ? { value: 0 } : {})}
      />
      <p ref={message} tabIndex={-1}>
        {phase === "done" && entries === 0 ? (
          t`There is nothing to export in this time.`
        ) : (
          <>
            {phase === "done" ? t`Ready: ${read}.` : t`${read} so far.`}{" "}
            {phase === "stopping" && t`Stops after the current request.`}
            {phase === "stopped" && t`The export is not complete.`}
          </>
        )}
      </p>
    </div>
  );
}

/** The buttons of an export that has started. */
export function ExportButtons({ phase, progress, stop, resume, save }: ChatExportState) {
  const stopButton = useRef<HTMLButtonElement>(null);
  const saveButton = useRef<HTMLButtonElement>(null);
  const resumeButton = useRef<HTMLButtonElement>(null);
  // The button that had the focus is gone.
  useEffect(() => {
    if (phase === "running") stopButton.current?.focus();
    if (phase === "done" || phase === "stopped") (saveButton.current ?? resumeButton.current)?.focus();
  }, [phase]);
  if (phase === "running" || phase === "stopping")
    return (
      <button ref={stopButton} type="button" class="btn line" aria-disabled={phase === "stopping"} onClick={stop}>
        {t`Stop`}
      </button>
    );
  if (phase === "idle") return null;
  return (
    <>
      {phase === "stopped" && (
        <button ref={resumeButton} type="button" class="btn line" onClick={resume}>
          {t`Continue`}
        </button>
      )}
      {progress.entries > 0 && (
        <button ref={saveButton} type="button" class={phase === "done" ? "btn primary" : "btn line"} onClick={save}>
          <Icon name="download" />
          {phase === "done" ? t`Save the file` : t`Save this part`}
        </button>
      )}
    </>
  );
}

interface FormatFieldProps {
  value: ExportFormat;
  onChange: (format: ExportFormat) => void;
}

export const FormatField = ({ value, onChange }: FormatFieldProps) => (
  <div class="field">
    <Segments
      name="format"
      label={t`Format`}
      value={value}
      options={[
        { value: "json", label: "JSON" },
        { value: "csv", label: "CSV" },
      ]}
      onChange={onChange}
    />
    <span class="help">
      {value === "json"
        ? t`Every field of the chats and their entries, for programs.`
        : t`One line for each entry, for spreadsheets. Times are in UTC.`}
    </span>
  </div>
);
