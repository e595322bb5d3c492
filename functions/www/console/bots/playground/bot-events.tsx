import { chatHref } from "../../state/page/route";
import { errorText } from "../../state/page/error-text";
import { useWorkspace } from "../../workspace-context";
import { EventItem } from "./event-item";
import type { PlaygroundConversation } from "./playground-conversation";
import { eventsOf } from "./playground-events";
import { useFollowEnd } from "./use-follow-end";
import { t } from "../../../texts/translate";

/** What the bot was sent, and what came back, in order. */
export function BotEvents({ conversation }: { conversation: PlaygroundConversation }) {
  const { timelines } = useWorkspace();
  const chats = conversation.chatIds.value.map((chatId) => {
    const { entries, chatDetails, problem } = timelines.open(chatId);
    const events = eventsOf(chatId, entries.value, chatDetails.value?.handover ?? null);
    return { chatId, events, problem: problem.value };
  });
  const { list, onScroll } = useFollowEnd<HTMLElement>(chats.flatMap(({ events }) => events).length);
  return (
    <section ref={list} class="playground-events scroll" aria-label={t`Events`} tabIndex={0} onScroll={onScroll}>
      {chats.length === 0 && (
        <p class="quiet-text">{t`Here you see what the bot is sent, with the request, and what comes back.`}</p>
      )}
      {chats.map(({ chatId, events, problem }) => (
        <div key={chatId} class="playground-events-of-chat">
          <h3>
            <a class="link" href={chatHref(chatId)}>
              {t`Open chat #${chatId}`}
            </a>
          </h3>
          {problem !== undefined && (
            <p class="notice bad" role="alert">
              {t`The events could not be loaded. ${errorText(problem)}`}
            </p>
          )}
          <ol aria-label={t`Events of chat ${chatId}`}>
            {events.map((event) => (
              <EventItem key={event.key} event={event} />
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}
