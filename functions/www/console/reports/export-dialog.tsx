/* The export of the open chat. */

import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { exportFileName, type ExportFormat } from "./chat-export";
import { ExportButtons, ExportStatus, FormatField } from "./export-status";
import { useChatExport } from "./use-chat-export";
import { t } from "../../texts/translate";

interface ExportDialogProps {
  chatId: number;
  onClose: () => void;
}

export function ExportDialog({ chatId, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<ExportFormat>("json");
  const run = useChatExport();
  const { phase, problem } = run;
  const submit = (event: Event) => {
    event.preventDefault();
    const name = exportFileName({ what: "chat", chat: String(chatId), from: "", to: "", channelId: "", format });
    run.start({ chat_id: chatId }, format, name);
  };
  return (
    <Dialog title={t`Export chat #${chatId}`} onClose={onClose}>
      <form class="body" onSubmit={submit}>
        {phase === "idle" && (
          <>
            <p class="quiet-text">
              {t`The file contains all messages, private notes and events, with the visitor’s name. Links are not replaced.`}
            </p>
            <FormatField value={format} onChange={setFormat} />
          </>
        )}
        <ExportStatus {...run} />
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <footer>
          <button type="button" class="btn line" onClick={onClose}>
            {phase === "idle" ? t`Cancel` : t`Close`}
          </button>
          <ExportButtons {...run} />
          {phase === "idle" && (
            <button type="submit" class="btn primary" data-autofocus>
              {t`Export`}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}
