import { chatHref } from "../../state/page/route";
import { errorText } from "../../state/page/error-text";
import { useWorkspace } from "../../workspace-context";
import { EventItem } from "./event-item";
import type { PlaygroundConversation } from "./playground-conversation";
import { eventsOf } from "./playground-events";

/** What the bot was sent, and what came back, in order. */
export function BotEvents({ conversation }: { conversation: PlaygroundConversation }) {
  const { timelines } = useWorkspace();
  const chats = conversation.chatIds.value.map((chatId) => timelines.open(chatId));
  return (
    <section class="playground-events scroll" aria-label="Events" tabIndex={0}>
      {chats.length === 0 && (
        <p class="quiet-text">Here you see what the bot is sent, with the request, and what comes back.</p>
      )}
      {chats.map(({ chatId, entries, chatDetails, problem }) => (
        <div key={chatId} class="playground-events-of-chat">
          <h3>
            <a class="link" href={chatHref(chatId)}>
              Chat #{chatId}
            </a>
          </h3>
          {problem.value !== undefined && (
            <p class="notice bad" role="alert">
              The events could not be loaded. {errorText(problem.value)}
            </p>
          )}
          <ol aria-label={`Events of chat ${chatId}`}>
            {eventsOf(chatId, entries.value, chatDetails.value?.handover ?? null).map((event) => (
              <EventItem key={event.key} event={event} />
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}
