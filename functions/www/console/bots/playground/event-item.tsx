import type { ComponentChildren } from "preact";
import { Icon } from "../../../ui/icons";
import { clockTimeWithSeconds } from "../../../ui/time";
import { CodeBlock } from "../../admin/code-block";
import { Bubble } from "../../conversation/bubble";
import type { PlaygroundEvent } from "./playground-events";
import { SentEvent } from "./sent-event";
import { t, tIn } from "../../../texts/translate";

/** An event of the bot: its direction, its name and its time, then what it says. */
export function EventItem({ event }: { event: PlaygroundEvent }) {
  switch (event.kind) {
    case "sent":
      return <SentEvent event={event} />;
    case "kept":
      return (
        <EventCard at={event.at} from={t`Visitor`} name={t`Not sent to the bot`}>
          <p class="quiet-text">{t`The bot does not have the chat.`}</p>
        </EventCard>
      );
    case "answer":
      return (
        <EventCard at={event.at} from={t`From the bot`} name={t`Message`} isOfBot>
          <Bubble entry={event.entry} />
          {event.entry.shown === false && <p class="bad">{t`The channel cannot show it to the visitor.`}</p>}
        </EventCard>
      );
    case "handover": {
      const data = event.entry.handover?.data ?? {};
      return (
        <EventCard at={event.at} from={t`From the bot`} name={t`Hand-over to agents`} isOfBot>
          <Bubble entry={event.entry} />
          {Object.keys(data).length > 0 && <CodeBlock label={t`Data`} text={JSON.stringify(data, undefined, 2)} />}
        </EventCard>
      );
    }
    case "bare-handover":
      return event.isFallback ? (
        <EventCard at={event.at} from={t`Service`} name={t`Handed over to agents`}>
          <p class="bad">{t`The bot has failed, or did not answer in time.`}</p>
        </EventCard>
      ) : (
        <EventCard at={event.at} from={t`Bot or visitor`} name={t`Hand-over to agents`}>
          <p class="quiet-text">
            {t`The bot has invited the agents without a reason and a summary, or the visitor has asked for a person.`}
          </p>
        </EventCard>
      );
    case "agent":
      return (
        <EventCard at={event.at} from={t`Agent`} name={event.entry.agent?.name ?? t`Message`}>
          <Bubble entry={event.entry} />
        </EventCard>
      );
    case "transfer":
      return <EventCard at={event.at} from={t`Agent`} name={event.entry.text ?? tIn("noun", "Transfer")} />;
  }
}

interface EventCardProps {
  /** Unix time in seconds. */
  at: number;
  from: string;
  name: ComponentChildren;
  isOfBot?: boolean;
  children?: ComponentChildren;
}

export function EventCard({ at, from, name, isOfBot = false, children }: EventCardProps) {
  return (
    <li class={isOfBot ? "playground-event of-bot" : "playground-event"}>
      <header>
        {isOfBot && <Icon name="bot" />}
        <span class="direction">{from}</span>
        <b dir="auto">{name}</b>
        <span class="grow" />
        <time dateTime={new Date(at * 1000).toISOString()}>{clockTimeWithSeconds(at * 1000)}</time>
      </header>
      {children}
    </li>
  );
}
