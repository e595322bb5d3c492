/** @jsxImportSource #widget */
/* The button that attaches files, and the files that are being sent. */

import type { Props } from "./props";
import type { VisitorUpload } from "../state";
import { fill } from "../texts";
import { ClipIcon, CrossIcon } from "./icons";

export function AttachButton({ state: { texts }, actions }: Props) {
  return (
    <span class="attach">
      <input
        type="file"
        multiple
        aria-label={texts.attach}
        onChange={({ currentTarget }) => {
          actions.sendFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
      <ClipIcon />
    </span>
  );
}

export function Uploads({ state, actions }: Props) {
  return state.uploads.length > 0 ? (
    <ul class="uploads">
      {state.uploads.map((upload) => (
        <Upload key={String(upload.id)} upload={upload} state={state} actions={actions} />
      ))}
    </ul>
  ) : null;
}

function Upload({ upload, state: { texts }, actions }: Props & { upload: VisitorUpload }) {
  const { id, name, progress, problem } = upload;
  return (
    <li>
      <b dir="auto">{name}</b>
      {problem ? (
        <span role="alert">{problem === "broken" ? texts.failed : texts.fileRefused}</span>
      ) : (
        <progress value={progress} aria-label={fill(texts.sendingFile, name)} />
      )}
      {problem === "broken" && (
        <button type="button" class="link" onClick={() => actions.retryUpload(id)}>
          {texts.retry}
        </button>
      )}
      <button
        type="button"
        class="remove"
        aria-label={fill(texts.removeFile, name)}
        onClick={() => actions.cancelUpload(id)}
      >
        <CrossIcon />
      </button>
    </li>
  );
}
