import { Icon } from "../../ui/icons";
import { useWorkspace } from "../workspace-context";
import { formatFileSize } from "./media";
import { cancelUpload, retryUpload, uploads, type FileUpload } from "./uploads";
import { t } from "../../texts/translate";

/** The files that are being uploaded to a chat, with their progress. */
export function UploadTray({ chatId }: { chatId: number }) {
  const ofChat = uploads.value.filter((upload) => upload.chatId === chatId);
  if (ofChat.length === 0) return null;
  return (
    <ul class="uploads" aria-label={t`Files that are being sent`}>
      {ofChat.map((upload) => (
        <UploadRow key={upload.id} upload={upload} />
      ))}
    </ul>
  );
}

function UploadRow({ upload }: { upload: FileUpload }) {
  const workspace = useWorkspace();
  const { file, progress, problem } = upload;
  return (
    <li>
      <span class="clip" dir="auto">
        {file.name}
      </span>
      {problem === undefined ? (
        <>
          <small>{formatFileSize(file.size)}</small>
          <progress value={progress} aria-label={t`Sending ${file.name}`} />
        </>
      ) : (
        <small class="bad">{problem}</small>
      )}
      {upload.isRetryable && (
        <button type="button" class="btn" onClick={() => retryUpload(workspace, upload)}>
          {t`Try again`}
        </button>
      )}
      <button
        type="button"
        class="btn only-icon"
        aria-label={problem === undefined ? t`Cancel ${file.name}` : t`Remove ${file.name}`}
        onClick={() => cancelUpload(upload)}
      >
        <Icon name="x" />
      </button>
    </li>
  );
}
