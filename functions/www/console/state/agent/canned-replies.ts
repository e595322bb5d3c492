import { signal } from "@preact/signals";
import type { ApiClient } from "../../../api/client";
import type { CannedReply } from "../../../api/types";

/** The account's canned replies, sorted by their shortcuts. */
export class CannedReplies {
  /** Undefined until they are loaded. */
  readonly items = signal<readonly CannedReply[] | undefined>(undefined);

  constructor(private readonly api: ApiClient) {}

  async load(): Promise<void> {
    const { canned_replies } = await this.api.get("/agent/canned-replies");
    this.items.value = [...canned_replies].sort((a, b) => a.shortcut.localeCompare(b.shortcut));
  }
}
