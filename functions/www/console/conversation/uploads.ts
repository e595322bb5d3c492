/* The files that the agent is uploading. Each becomes a message when it has arrived. */

import { signal } from "@preact/signals";
import { isRetryable } from "../../api/client";
import type { AgentMessage } from "../../api/types";
import { BrokenUpload, uploadFile, FileRefused } from "../../files/upload";
import { announce } from "../../ui/announcer";
import type { Workspace } from "../state/workspace";
import { t } from "../../texts/translate";

export interface FileUpload {
  id: number;
  chatId: number;
  file: File;
  /** From 0 to 1. */
  progress: number;
  /** Why the upload has ended. */
  problem?: string;
  isRetryable?: boolean;
  controller: AbortController;
}

export const uploads = signal<readonly FileUpload[]>([]);
let lastId = 0;

const update = (id: number, change: Partial<FileUpload>) => {
  uploads.value = uploads.peek().map((upload) => (upload.id === id ? { ...upload, ...change } : upload));
};

const remove = (id: number) => {
  uploads.value = uploads.peek().filter((upload) => upload.id !== id);
};

export function startUploads(workspace: Workspace, chatId: number, files: Iterable<File>): void {
  for (const file of files) {
    const upload: FileUpload = { id: ++lastId, chatId, file, progress: 0, controller: new AbortController() };
    uploads.value = [...uploads.peek(), upload];
    void run(workspace, upload);
  }
}

export function cancelUpload({ id, controller, file }: FileUpload): void {
  remove(id);
  controller.abort();
  announce(t`${file.name} is not sent`);
}

export function retryUpload(workspace: Workspace, { id, chatId, file }: FileUpload): void {
  const upload: FileUpload = { id, chatId, file, progress: 0, controller: new AbortController() };
  uploads.value = uploads.peek().map((other) => (other.id === id ? upload : other));
  void run(workspace, upload);
}

async function run(workspace: Workspace, { id, chatId, file, controller }: FileUpload): Promise<void> {
  try {
    const uploaded = await uploadFile(file, {
      prepare: (body) =>
        workspace.api.post("/agent/chats/{chat_id}/uploads", {
          path: { chat_id: chatId },
          body: body as never,
          signal: controller.signal,
        }),
      onProgress: (progress) => update(id, { progress }),
      signal: controller.signal,
    });
    remove(id);
    workspace.outbox.add(chatId, { kind: "message", body: uploaded as AgentMessage });
  } catch (error) {
    if (controller.signal.aborted) return;
    const isBroken = error instanceof BrokenUpload;
    const problem = isBroken
      ? t`The connection has broken.`
      : error instanceof FileRefused
        ? t`The file was not accepted.`
        : (error as Error).message;
    update(id, { problem, isRetryable: isBroken || isRetryable(error) });
    announce(t`${file.name} is not sent: ${problem}`);
  }
}
