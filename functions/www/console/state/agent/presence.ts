import { signal } from "@preact/signals";
import type { ApiClient } from "../../../api/client";
import type { PresenceStatus } from "../../../api/types";
import { toast } from "../../../ui/toast";
import { errorText } from "../page/error-text";
import { isNewSession } from "./session";
import { t } from "../../../texts/translate";

/** Whether this agent is online. */
const STATUS_WORDS: Record<PresenceStatus, string> = { online: t`online`, away: t`away`, offline: t`offline` };

export class Presence {
  /** Undefined until it is known. */
  readonly status = signal<PresenceStatus | undefined>(undefined);

  constructor(private readonly api: ApiClient) {}

  /** Loads the status. An agent who has just signed in goes online. */
  async load(): Promise<void> {
    try {
      const { status, online } = await this.api.get("/agent/presence");
      this.status.value = online || status === "away" ? status : "offline";
      if (isNewSession && this.status.peek() === "offline") await this.set("online");
    } catch {
      // If the request fails, the presence stays unknown until the agent changes it.
    }
  }

  async set(status: PresenceStatus): Promise<void> {
    const before = this.status.peek();
    this.status.value = status;
    try {
      await this.api.put("/agent/presence", { body: { status } });
    } catch (error) {
      this.status.value = before;
      toast(t`You are still ${STATUS_WORDS[before ?? "offline"]}. ${errorText(error)}`, { isBad: true });
    }
  }
}
