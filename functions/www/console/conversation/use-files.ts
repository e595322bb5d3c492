/* Takes the files that the agent chooses, pastes or drops. The code that uploads them is loaded with the first file. */

import { useState } from "preact/hooks";
import { lazyComponent } from "../../ui/lazy-component";
import { useWorkspace } from "../workspace-context";

export const UploadTray = lazyComponent<{ chatId: number }>(() =>
  import("./upload-tray").then(({ UploadTray }) => UploadTray),
);

/** Whether a file has been chosen since the page was loaded, so that uploads may be in progress. */
let hasUploads = false;

export function useFiles(chatId: number, isEnabled: boolean) {
  const workspace = useWorkspace();
  const [isOver, setOver] = useState(false);
  const [showsTray, setShowsTray] = useState(hasUploads);

  const send = (files: Iterable<File>) => {
    const list = [...files];
    if (!isEnabled || list.length === 0) return;
    hasUploads = true;
    setShowsTray(true);
    void import("./uploads").then(({ startUploads }) => startUploads(workspace, chatId, list));
  };
  const filesOf = (data: DataTransfer | null) => (isEnabled ? [...(data?.files ?? [])] : []);

  const onPaste = (event: ClipboardEvent) => {
    const files = filesOf(event.clipboardData);
    // A copied part of a document is both text and a picture.
    if (files.length === 0 || event.clipboardData?.types.includes("text/plain")) return;
    event.preventDefault();
    send(files);
  };
  const onDragOver = (event: DragEvent) => {
    if (!isEnabled || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  const onDrop = (event: DragEvent) => {
    setOver(false);
    const files = filesOf(event.dataTransfer);
    if (files.length === 0) return;
    event.preventDefault();
    send(files);
  };
  const onDragLeave = () => setOver(false);
  return { send, isOver, showsTray, dropTarget: { onDragOver, onDrop, onDragLeave }, onPaste };
}
