/* The files that the visitor is uploading. Each becomes a message when it has arrived. Loaded with the first file. */

import { BrokenUpload, uploadFile, type Forms, type UploadedFile } from "../../files/upload";
import type { Post, ServiceError } from "../service/client";
import type { Store, VisitorUpload } from "../state";
import type { VisitorSession } from "../visitor/visitor-session";

export class VisitorUploads {
  #lastId = 0;
  readonly #controllers = new Map<number, AbortController>();
  readonly #files = new Map<number, File>();

  constructor(
    private readonly store: Store,
    private readonly session: VisitorSession,
    private readonly post: Post,
    private readonly sent: (uploaded: UploadedFile, name: string) => void,
  ) {}

  start(files: readonly File[]): void {
    for (const file of files) {
      const id = ++this.#lastId;
      this.#files.set(id, file);
      this.#show([...this.#shown, { id, name: file.name, progress: 0, problem: undefined }]);
      void this.#run(id, file);
    }
  }

  cancel(id: number): void {
    this.#controllers.get(id)?.abort();
    this.#remove(id);
  }

  retry(id: number): void {
    const file = this.#files.get(id);
    if (file === undefined) return;
    this.#update(id, { progress: 0, problem: undefined });
    void this.#run(id, file);
  }

  get #shown(): readonly VisitorUpload[] {
    return this.store.state.uploads;
  }

  #show(uploads: readonly VisitorUpload[]): void {
    this.store.update({ uploads });
  }

  #update(id: number, change: Partial<VisitorUpload>): void {
    this.#show(this.#shown.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)));
  }

  #remove(id: number): void {
    this.#controllers.delete(id);
    this.#files.delete(id);
    this.#show(this.#shown.filter((upload) => upload.id !== id));
  }

  async #run(id: number, file: File): Promise<void> {
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    try {
      const uploaded = await uploadFile(file, {
        prepare: (request) => this.session.withToken((token) => this.post<Forms>("upload", { token, ...request })),
        onProgress: (progress) => this.#update(id, { progress }),
        signal: controller.signal,
      });
      this.#remove(id);
      this.sent(uploaded, file.name);
    } catch (error) {
      if (controller.signal.aborted) return;
      const isRefused = isServiceError(error)
        ? !error.isTemporary
        : !(error instanceof BrokenUpload || error instanceof TypeError);
      this.#update(id, { problem: isRefused ? "refused" : "broken" });
    }
  }
}

/** Without the class, which would then be in a file of its own that every page loads. */
const isServiceError = (error: unknown): error is ServiceError => error instanceof Error && "isTemporary" in error;
