import { useId, useState } from "preact/hooks";
import type { Delivery } from "../../../api/types";
import { Icon } from "../../../ui/icons";
import { formatDuration } from "../../../ui/time";
import { resultText, sentName, STATE_NAMES } from "../../deliveries/log-filter";
import { EventCard } from "./event-item";
import type { PlaygroundEvent } from "./playground-events";
import { SentEventDetail } from "./sent-event-detail";
import { plural, t } from "../../../texts/translate";

/** An event that the bot was sent: its result, and on demand the request and the attempts. */
export function SentEvent({ event }: { event: PlaygroundEvent & { kind: "sent" } }) {
  const { at, chatId, entry, delivery } = event;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const name = sentName({ target: "bot", type: entry.type });
  return (
    <EventCard at={at} from={t`To the bot`} name={<code>{name}</code>}>
      <p class="clip" dir="auto">
        {MEANINGS[name] ?? entry.text}
      </p>
      <p class="result">
        <span class={`delivery-state ${delivery.state}`}>{STATE_NAMES[delivery.state]}</span>
        <span class="num" dir="auto">
          {outcomeText(delivery)}
        </span>
      </p>
      <button
        type="button"
        class="btn"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="chevron-down" />
        {t`Request and attempts`}
      </button>
      {isOpen && (
        <div id={id} class="detail">
          <SentEventDetail key={`${delivery.state} ${delivery.attempts.length}`} chatId={chatId} seq={entry.seq} />
        </div>
      )}
    </EventCard>
  );
}

/** What the events say, except CLIENT_MESSAGE, which has the words of the visitor. */
const MEANINGS: Record<string, string> = {
  AGENT_JOINED: t`An agent has the chat.`,
  AGENT_UNAVAILABLE: t`No agent takes the chat: the bot keeps it.`,
  CHAT_RETURNED: t`An agent has given the chat to the bot.`,
  CHAT_CLOSED: t`The chat is over.`,
};

/** A bot that takes a turn as one event gets the messages of the turn with the last one. */
const NOT_SENT = t`Sent with a later message, or no longer needed`;

/** Returns the result of the last attempt, the number of attempts, and the duration of the last one. */
function outcomeText(delivery: Delivery): string {
  const { attempts, attempts_left_out: leftOut = 0 } = delivery;
  const last = attempts.at(-1);
  if (last === undefined) return delivery.state === "superseded" ? NOT_SENT : resultText(delivery);
  return [
    resultText(delivery),
    plural(attempts.length + leftOut, "{count} attempt", "{count} attempts"),
    formatDuration(last.ms),
  ].join(" · ");
}
