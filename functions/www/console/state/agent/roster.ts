import { computed, signal } from "@preact/signals";
import type { ApiClient } from "../../../api/client";
import type { Colleague, PresenceStatus, SavedView, Tag } from "../../../api/types";

export interface People {
  agents: readonly Colleague[];
  departments: readonly { id: number; name: string }[];
  /** Undefined until they are loaded, which only a transfer needs. */
  bots?: readonly { bot_id: string; name: string }[] | undefined;
  tags?: readonly Tag[] | undefined;
  views?: readonly SavedView[] | undefined;
}

/** The agents of the account, with their presence, its departments, and the tags and saved views of its inbox. */
export class Roster {
  /** Undefined until it is loaded. */
  readonly people = signal<People | undefined>(undefined);
  readonly tags = computed<readonly Tag[]>(() => this.people.value?.tags ?? []);
  readonly views = computed<readonly SavedView[]>(() => this.people.value?.views ?? []);

  constructor(private readonly api: ApiClient) {}

  async load(): Promise<void> {
    const { agents, departments, tags, views } = await this.api.get("/agent/agents", { query: { include: "inbox" } });
    this.people.value = { agents, departments, tags, views, bots: this.people.peek()?.bots };
  }

  async loadWithBots(): Promise<void> {
    const { agents, departments, bots } = await this.api.get("/agent/agents", { query: { include: "bots" } });
    this.people.value = { ...this.people.peek(), agents, departments, bots };
  }

  /** Loads the roster again. If the request fails, it is loaded when it is needed. */
  refresh(): void {
    this.load().catch(() => {});
  }

  /** Replaces the saved views of the account. Only admins may do this. */
  async saveViews(views: readonly SavedView[]): Promise<void> {
    await this.api.put("/admin/settings", { body: { views: [...views] } });
    const people = this.people.peek();
    if (people !== undefined) this.people.value = { ...people, views };
  }

  setPresence(agentId: number, status: PresenceStatus): void {
    const people = this.people.peek();
    if (people === undefined) return;
    this.people.value = {
      ...people,
      agents: people.agents.map((agent) => (agent.id === agentId ? { ...agent, status } : agent)),
    };
  }
}
