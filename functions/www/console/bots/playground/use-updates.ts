import { useEffect, useRef } from "preact/hooks";
import { Polling, type Pace } from "../../../widget/chat/polling";
import { isPending, type Timeline } from "../../state/chat/timeline";
import { useWorkspace } from "../../workspace-context";
import type { PlaygroundConversation } from "./playground-conversation";

/** The time between two reads in milliseconds, as long as nothing changes. */
const PACE: Pace = [1500, 10_000];

/** Keeps the conversation up to date while the page is visible. Pushes change the timeline of the chat at once; it is
 * polled as well, because there may be no socket. What the visitor sees is read only if the timeline has become
 * longer. */
export function useUpdates(conversation: PlaygroundConversation): void {
  const { timelines } = useWorkspace();
  const chatId = conversation.chatIds.value.at(-1);
  const timeline = chatId === undefined ? undefined : timelines.open(chatId);
  const lastSeq = timeline?.entries.value.at(-1)?.seq;
  const state = timeline?.chatDetails.value?.state;
  const polling = useRef<Polling>(undefined);

  useEffect(() => {
    if (timeline === undefined) return;
    const isOver = () => timeline.chatDetails.peek()?.state === "closed" && !timeline.entries.peek().some(isPending);
    const poll = new Polling(
      () => (document.hidden || isOver() ? undefined : PACE),
      () => read(timeline),
    );
    polling.current = poll;
    const restart = () => poll.restart();
    document.addEventListener("visibilitychange", restart);
    void read(timeline);
    restart();
    return () => {
      document.removeEventListener("visibilitychange", restart);
      poll.stop();
      // The next effect must not start the polling of a former chat again.
      polling.current = undefined;
    };
  }, [timeline]);

  useEffect(() => {
    if (lastSeq !== undefined) void conversation.read();
    polling.current?.restart();
  }, [conversation, timeline, lastSeq, state]);
}

/** Loads the timeline, or what is new in it. Its own state tells of an error. */
async function read(timeline: Timeline): Promise<void> {
  try {
    if (timeline.loadState.peek() === "ready")
      await Promise.all([timeline.refreshPending(), timeline.refreshDetails()]);
    else await timeline.open(undefined);
  } catch {
    // The timeline is read again soon, and the console shows that the connection is lost.
  }
}
