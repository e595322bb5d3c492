/* Uploads a file: asks the service for a form, and sends the file to the bucket. */

import { messageTypeOf, uploadTypeOf } from "./describe-file";
import { readPicture } from "./thumbnail";

/** A form of the service with which one file can be sent. */
export interface UploadTarget {
  file_id: string;
  url: string;
  fields: Record<string, string>;
}

export interface UploadRequest {
  file_name: string;
  type: string;
  file_size: number;
  thumb?: { type: string; file_size: number };
}

export interface Forms {
  file: UploadTarget;
  thumb?: UploadTarget;
}

/** The fields of the message with the file. */
export interface UploadedFile {
  type: "photo" | "video" | "audio" | "document";
  file_id: string;
  thumb_id?: string;
  width?: number;
  height?: number;
}

export interface UploadOptions {
  /** Asks the service for the forms. Its errors are those of the upload. */
  prepare: (request: UploadRequest) => Promise<Forms>;
  /** Called with the part of the file that has been sent, from 0 to 1. */
  onProgress: (part: number) => void;
  signal: AbortSignal;
}

/** The connection has broken, or the bucket does not respond. The same upload may succeed later. */
export class BrokenUpload extends Error {}
/** The bucket does not accept the file. */
export class FileRefused extends Error {}

const MAX_ATTEMPTS = 3;
const RETRY_DELAY_MS = 1000;

/** Uploads a file and its preview. A broken connection is tried again. */
export async function uploadFile(file: File, options: UploadOptions): Promise<UploadedFile> {
  const type = uploadTypeOf(file);
  const picture = messageTypeOf(type) === "photo" ? await readPicture(file) : undefined;
  const thumb = picture?.thumb;
  const forms = await options.prepare({
    file_name: file.name || "file",
    type,
    file_size: file.size,
    ...(thumb && { thumb: { type: thumb.type, file_size: thumb.size } }),
  });
  if (thumb && forms.thumb) await send(forms.thumb, thumb, { ...options, onProgress: () => {} });
  await send(forms.file, file, options);
  return {
    type: messageTypeOf(type),
    file_id: forms.file.file_id,
    ...(forms.thumb && { thumb_id: forms.thumb.file_id }),
    ...(picture && { width: picture.width, height: picture.height }),
  };
}

async function send(target: UploadTarget, content: Blob, options: UploadOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(target, content, options);
    } catch (error) {
      if (!(error instanceof BrokenUpload) || attempt >= MAX_ATTEMPTS) throw error;
      await pause(RETRY_DELAY_MS * attempt, options.signal);
    }
  }
}

/** Sends a form. `fetch` reports no progress, so this uses XMLHttpRequest. */
function sendOnce({ url, fields }: UploadTarget, content: Blob, { onProgress, signal }: UploadOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else if (request.status >= 500) reject(new BrokenUpload());
      else reject(new FileRefused());
    };
    request.onerror = () => reject(new BrokenUpload());
    request.onabort = () => reject(signal.reason);
    request.onloadend = () => signal.removeEventListener("abort", abort);
    signal.addEventListener("abort", abort);
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", content);
    request.open("POST", url);
    request.send(form);
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
