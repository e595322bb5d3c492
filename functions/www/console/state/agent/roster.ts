import { signal } from "@preact/signals";
import type { ApiClient } from "../../../api/client";
import type { Colleague, PresenceStatus } from "../../../api/types";

export interface People {
  agents: readonly Colleague[];
  departments: readonly { id: number; name: string }[];
  /** Undefined until they are loaded, which only a transfer needs. */
  bots?: readonly { bot_id: string; name: string }[] | undefined;
}

/** The agents of the account, with their presence, and its departments. */
export class Roster {
  /** Undefined until it is loaded. */
  readonly people = signal<People | undefined>(undefined);

  constructor(private readonly api: ApiClient) {}

  async load(): Promise<void> {
    const { agents, departments } = await this.api.get("/agent/agents");
    this.people.value = { agents, departments, bots: this.people.peek()?.bots };
  }

  async loadWithBots(): Promise<void> {
    this.people.value = await this.api.get("/agent/agents", { query: { include: "bots" } });
  }

  /** Loads the roster again. If the request fails, it is loaded when it is needed. */
  refresh(): void {
    this.load().catch(() => {});
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
