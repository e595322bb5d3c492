import { signal } from "@preact/signals";
import { errorText } from "../page/error-text";

/** Few enough that the other requests of the console do not wait. */
const MAX_CONCURRENT_CHANGES = 4;

export interface BulkProgress {
  /** What is done with each chat, for example "Closing". */
  label: string;
  total: number;
  done: number;
  failures: readonly { chatId: number; problem: string }[];
  isRunning: boolean;
}

/** Why a chat is not changed with the others, as the agent reads it. */
export class ChatLeftOut extends Error {}

const problemText = (error: unknown) => (error instanceof ChatLeftOut ? error.message : errorText(error));

/** Changes several chats, one request for each, so that each chat keeps its own rules and one that cannot be changed
 * does not stop the others. */
export class BulkChange {
  /** The change that is running, or that ran last until the agent dismisses its result. */
  readonly progress = signal<BulkProgress | undefined>(undefined);

  /** Returns the chats that were changed. Does nothing while another change is running. */
  async run(label: string, chatIds: readonly number[], change: (chatId: number) => Promise<void>): Promise<number[]> {
    if (this.progress.peek()?.isRunning === true) return [];
    this.progress.value = { label, total: chatIds.length, done: 0, failures: [], isRunning: true };
    const remaining = [...chatIds];
    const changed: number[] = [];
    const work = async () => {
      for (let chatId = remaining.shift(); chatId !== undefined; chatId = remaining.shift()) {
        const problem = await change(chatId).then(() => undefined, problemText);
        if (problem === undefined) changed.push(chatId);
        this.report(chatId, problem);
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_CHANGES }, work));
    const { progress } = this;
    const result = progress.peek();
    if (result !== undefined)
      progress.value = result.failures.length === 0 ? undefined : { ...result, isRunning: false };
    return changed;
  }

  private report(chatId: number, problem: string | undefined): void {
    const before = this.progress.peek();
    if (before === undefined) return;
    const failures = problem === undefined ? before.failures : [...before.failures, { chatId, problem }];
    this.progress.value = { ...before, done: before.done + 1, failures };
  }

  dismiss(): void {
    if (this.progress.peek()?.isRunning === false) this.progress.value = undefined;
  }
}
