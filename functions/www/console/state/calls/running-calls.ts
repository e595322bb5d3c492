/* The phone calls in progress, by chat. The console learns of calls from pushes and from opened chats. When the socket
   opens, it also reads chats whose last message is a call, and the calls whose positions this browser has stored. */

import { signal } from "@preact/signals";
import type { Call, Entry } from "../../../api/types";
import type { PrefixedStorage } from "../../../ui/storage";
import { isInProgress } from "./call-text";

export interface RunningCall {
  entryId: string;
  /** The position of the call's entry in the chat. */
  seq: number;
  call: Call;
  /** When the call was started, as Unix time in seconds. */
  since: number;
}

/** No call lasts longer. If a call is older, its end was missed. */
export const MAX_CALL_SECONDS = 5 * 3600;

/** The position of a call's entry, which contains the call's current status. */
export interface CallPosition {
  chatId: number;
  seq: number;
  /** Whether the agent takes part in the call. */
  isOwn: boolean;
}

const POSITIONS = "running-calls";

export class RunningCalls {
  readonly byChat = signal<ReadonlyMap<number, RunningCall>>(new Map());
  /** The positions of the calls by chat, oldest first. They outlive a reload and a lost connection. */
  private readonly positionsByChat: Map<number, CallPosition>;
  /** The chat and `seq` of each call that has ended. An older state of its entry may still arrive. */
  private readonly ended = new Set<string>();

  constructor(
    private readonly storage: PrefixedStorage,
    private readonly me: number,
    private readonly now: () => number = () => Date.now() / 1000,
  ) {
    const stored = storage.read<CallPosition[]>(POSITIONS) ?? [];
    this.positionsByChat = new Map(stored.map((position) => [position.chatId, position]));
  }

  /** Returns the positions of the calls: the agent's own calls, then the others, each newest first. */
  get positions(): readonly CallPosition[] {
    const newestFirst = [...this.positionsByChat.values()].reverse();
    return [...newestFirst.filter(({ isOwn }) => isOwn), ...newestFirst.filter(({ isOwn }) => !isOwn)];
  }

  /** Updates the call from an entry. Entries of other types are ignored. */
  apply(chatId: number, { id, seq, call, timestamp }: Entry): void {
    if (call === undefined) return;
    const before = this.byChat.peek().get(chatId);
    const isRunning = isInProgress(call) && this.now() - timestamp < MAX_CALL_SECONDS;
    const key = `${chatId}.${seq}`;
    if (isRunning) {
      if (this.ended.has(key) || (before?.entryId === id && before.call.status === call.status)) return;
      this.byChat.value = new Map(this.byChat.peek()).set(chatId, { entryId: id, seq, call, since: timestamp });
      if (this.positionsByChat.get(chatId)?.seq !== seq) this.positionsByChat.delete(chatId);
      this.positionsByChat.set(chatId, { chatId, seq, isOwn: call.agent?.id === this.me });
      this.storePositions();
    } else {
      this.ended.add(key);
      if (this.positionsByChat.get(chatId)?.seq === seq) this.remove([chatId]);
    }
  }

  /** Forgets the calls of chats that the agent no longer sees. Their ends are not pushed to the agent. */
  remove(chatIds: readonly number[]): void {
    const others = new Map(this.byChat.peek());
    for (const chatId of chatIds) others.delete(chatId);
    if (others.size < this.byChat.peek().size) this.byChat.value = others;
    if (chatIds.filter((chatId) => this.positionsByChat.delete(chatId)).length > 0) this.storePositions();
  }

  /** Forgets the state of all calls, because their ends may have been missed. Keeps their positions. */
  clear(): void {
    if (this.byChat.peek().size > 0) this.byChat.value = new Map();
  }

  private storePositions(): void {
    this.storage.write(POSITIONS, [...this.positionsByChat.values()]);
  }
}
