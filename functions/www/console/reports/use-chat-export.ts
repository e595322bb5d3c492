import { useEffect, useRef, useState } from "preact/hooks";
import type { ExportQuery } from "../../api/types";
import { announce } from "../../ui/announcer";
import { saveFile } from "../../ui/save-file";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { createExport, type ChatExport, type ExportFormat, type ExportProgress } from "./chat-export";
import { t } from "../../texts/translate";

export type ExportPhase = "idle" | "running" | "stopping" | "stopped" | "done";

const NOTHING_READ: ExportProgress = { chats: undefined, entries: 0, isComplete: false };

/** Reads an export page by page, until it is complete or stopped, and saves it as one file. */
export function useChatExport() {
  const { api } = useWorkspace();
  const [phase, setPhase] = useState<ExportPhase>("idle");
  const [progress, setProgress] = useState(NOTHING_READ);
  const [error, setError] = useState<unknown>();
  const [isSaved, setSaved] = useState(false);
  const current = useRef<{ data: ChatExport; name: string; format: ExportFormat } | undefined>(undefined);
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );

  const run = async () => {
    const data = current.current?.data;
    if (data === undefined) return;
    isStopped.current = false;
    setError(undefined);
    setPhase("running");
    try {
      while (!data.progress.isComplete && !isStopped.current) {
        await data.readPage();
        setProgress(data.progress);
      }
      setPhase(data.progress.isComplete ? "done" : "stopped");
      announce(data.progress.isComplete ? t`The export is complete` : t`Stopped`);
    } catch (reason) {
      setError(reason);
      setPhase(data.progress.entries === 0 ? "idle" : "stopped");
    }
  };
  return {
    phase,
    progress,
    /** Whether data would be lost by leaving the page, so that the admin must be asked first. */
    isUnsaved: phase === "done" ? progress.entries > 0 && !isSaved : phase !== "idle",
    error,
    problem: error === undefined ? undefined : errorText(error),
    start: (query: ExportQuery, format: ExportFormat, name: string) => {
      current.current = { data: createExport(api, query, format), name, format };
      setProgress(NOTHING_READ);
      setSaved(false);
      void run();
    },
    resume: () => void run(),
    stop: () => {
      isStopped.current = true;
      setPhase("stopping");
    },
    /** Forgets what has been read. */
    reset: () => {
      current.current = undefined;
      setError(undefined);
      setPhase("idle");
    },
    save: () => {
      if (current.current === undefined) return;
      const { data, name, format } = current.current;
      // A part must not be mistaken for the complete file.
      const fileName = data.progress.isComplete ? name : name.replace(/\.\w+$/, "-part$&");
      saveFile(fileName, format === "json" ? "application/json" : "text/csv", data.parts);
      setSaved(data.progress.isComplete);
    },
  };
}

export type ChatExportState = ReturnType<typeof useChatExport>;
