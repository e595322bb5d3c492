/* The progress of an export, and its buttons. */

import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { Segments } from "../../ui/form-fields";
import type { ExportFormat } from "./chat-export";
import { formatCount } from "./report-model";
import type { ChatExportState } from "./use-chat-export";

const plural = (count: number, one: string, many: string) => `${formatCount(count)} ${count === 1 ? one : many}`;

export function ExportStatus({ phase, progress }: Pick<ChatExportState, "phase" | "progress">) {
  const { chats, entries } = progress;
  const message = useRef<HTMLParagraphElement>(null);
  // Move the focus, because the button that had it is gone, and there is nothing to save.
  useEffect(() => {
    if (phase === "done" && entries === 0) message.current?.focus();
  }, [phase]);
  if (phase === "idle") return null;
  const entryText = plural(entries, "entry", "entries");
  const read = chats === undefined ? entryText : `${plural(chats, "chat", "chats")} with ${entryText}`;
  return (
    <div class="task-progress" role="status">
      <progress
        aria-label="Progress"
        {...(phase === "done" ? { value: 1 } : phase === "stopped" ? { value: 0 } : {})}
      />
      <p ref={message} tabIndex={-1}>
        {phase === "done" && entries === 0 ? (
          "There is nothing to export in this time."
        ) : (
          <>
            {phase === "done" ? `Ready: ${read}.` : `${read} so far.`}{" "}
            {phase === "stopping" && "Stops after the current request."}
            {phase === "stopped" && "The export is not complete."}
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
        Stop
      </button>
    );
  if (phase === "idle") return null;
  return (
    <>
      {phase === "stopped" && (
        <button ref={resumeButton} type="button" class="btn line" onClick={resume}>
          Continue
        </button>
      )}
      {progress.entries > 0 && (
        <button ref={saveButton} type="button" class={phase === "done" ? "btn primary" : "btn line"} onClick={save}>
          <Icon name="download" />
          {phase === "done" ? "Save the file" : "Save this part"}
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
      label="Format"
      value={value}
      options={[
        { value: "json", label: "JSON" },
        { value: "csv", label: "CSV" },
      ]}
      onChange={onChange}
    />
    <span class="help">
      {value === "json"
        ? "Every field of the chats and their entries, for programs."
        : "One line for each entry, for spreadsheets. Times are in UTC."}
    </span>
  </div>
);
