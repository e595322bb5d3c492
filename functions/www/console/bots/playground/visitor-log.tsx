import type { Entry, WidgetMessage } from "../../../api/types";
import { clockTime } from "../../../ui/time";
import { Bubble } from "../../conversation/bubble";
import { useWorkspace } from "../../workspace-context";
import { messageKey, type PlaygroundConversation } from "./playground-conversation";
import { useFollowEnd } from "./use-follow-end";
import { t } from "../../../texts/translate";

/** The messages that the visitor sees. */
export function VisitorLog({ conversation }: { conversation: PlaygroundConversation }) {
  const messages = conversation.messages.value;
  const unsent = conversation.unsent.value;
  const { list, onScroll } = useFollowEnd<HTMLDivElement>(messages.length + unsent.length);
  const last = messages.at(-1);
  const answerWith = (text: string, buttonId?: string | number) => void conversation.send(text, buttonId);
  return (
    <div ref={list} class="log scroll" role="log" aria-label={t`Messages`} tabIndex={0} onScroll={onScroll}>
      <div class="inner">
        <span class="grow" />
        {last === undefined && unsent.length === 0 && <p class="event">{t`Write the first message`}</p>}
        {messages.map((message) => (
          <MessageLine
            key={messageKey(message)}
            message={message}
            onReply={message === last && unsent.length === 0 ? answerWith : undefined}
          />
        ))}
        {unsent.map(({ messageId, text }) => (
          <div key={messageId} class="turn ours">
            <div class="stack">
              <div class={conversation.sendProblem.value === undefined ? "line sending" : "line failed"}>
                <Bubble entry={entryOf({ type: "text", text })} />
              </div>
            </div>
          </div>
        ))}
        <EndOfChat conversation={conversation} />
      </div>
    </div>
  );
}

/** Returns a visitor's view of a message as an entry, which has the same fields. */
const entryOf = (message: Pick<WidgetMessage, "type"> & Partial<WidgetMessage>) =>
  ({ id: "", timestamp: 0, ...message }) as Entry;

interface MessageLineProps {
  message: WidgetMessage;
  onReply: ((text: string, buttonId?: string | number) => void) | undefined;
}

function MessageLine({ message, onReply }: MessageLineProps) {
  const { from, name, at } = message;
  const author = from === "visitor" ? t`You` : (name ?? (from === "bot" ? t`The bot` : t`An agent`));
  const seconds = Math.floor(at / 1000);
  return (
    <div class={`turn ${from === "visitor" ? "ours" : "theirs"} by-${from}`} role="group" aria-label={author}>
      <div class="stack">
        {from !== "visitor" && (
          <span class="by">
            <span class="clip" dir="auto">
              {from === "bot" ? t`${author} (bot)` : author}
            </span>
          </span>
        )}
        <div class="line">
          <Bubble entry={entryOf(message)} onReply={onReply} />
        </div>
        <span class="foot">
          <time dateTime={new Date(at).toISOString()}>{clockTime(seconds)}</time>
        </span>
      </div>
    </div>
  );
}

function EndOfChat({ conversation }: { conversation: PlaygroundConversation }) {
  const chatId = conversation.chatIds.value.at(-1);
  const { timelines } = useWorkspace();
  if (chatId === undefined || timelines.open(chatId).chatDetails.value?.state !== "closed") return null;
  return <p class="event">{t`The chat is closed. The next message opens a new one.`}</p>;
}
