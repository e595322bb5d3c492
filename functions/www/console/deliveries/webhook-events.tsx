import type { WebhookEventName } from "../../api/types";
import { controlAttributes, FieldNotes } from "../../ui/form-fields";
import { t } from "../../texts/translate";

/** When each event is sent that a webhook gets unless it names others. */
const STANDARD_EVENTS = {
  chat_accepted: t`an agent accepts a chat`,
  chat_updated: t`data of the visitor changes`,
  chat_assigned: t`an agent links a chat to a CRM card`,
  chat_finished: t`a chat ends`,
  offline_message: t`a visitor sends the offline form`,
  call_event: t`a phone call has a new status`,
} satisfies Partial<Record<WebhookEventName, string>>;

/** The same of all events. The compiler finds an event that is missing here. */
const EVENT_TIMES: Record<WebhookEventName, string> = {
  ...STANDARD_EVENTS,
  chat_opened: t`a chat is opened`,
  chat_waiting: t`a chat begins to wait for an agent`,
  bot_handed_over: t`a bot hands its chat over, or fails`,
  chat_joined: t`an agent gets a chat`,
  chat_transferred: t`a chat is given to another agent, a department or a bot`,
  answer_due_soon: t`an agent's answer is due soon`,
  chat_rated: t`a visitor rates a chat`,
  chat_ended: t`a chat is closed, whoever took part`,
  message: t`a visitor, an agent or a bot writes`,
  delivery_failed: t`a message to a visitor is not delivered`,
  delivered_late: t`a message is delivered after its failure`,
  visitor_blacklisted: t`a visitor is blacklisted`,
  agent_status_changed: t`an agent has another status`,
  channel_status_changed: t`a channel has another status`,
};
const NAMES = Object.keys(EVENT_TIMES) as WebhookEventName[];
const STANDARD_NAMES = Object.keys(STANDARD_EVENTS) as WebhookEventName[];

/** The events of webhooks, and when each is sent. */
export const WEBHOOK_EVENTS = NAMES.map((name) => ({ name, when: EVENT_TIMES[name] }));

/** Returns the events of a webhook in words. An empty list stands for the standard events. */
export const eventsText = (events: readonly WebhookEventName[]) =>
  events.length === 0 ? t`Standard events` : events.join(", ");

interface EventFieldsProps {
  /** Empty for the standard events. */
  events: readonly WebhookEventName[];
  problem: string | undefined;
  onChange: (events: WebhookEventName[]) => void;
}

/** The events that a webhook receives. */
export function EventFields({ events, problem, onChange }: EventFieldsProps) {
  const named = events.length === 0 ? STANDARD_NAMES : events;
  const isChosen = (name: WebhookEventName) => named.includes(name);
  const toggle = (toggled: WebhookEventName, isOn: boolean) => {
    const chosen = NAMES.filter((name) => (name === toggled ? isOn : isChosen(name)));
    // The last chosen event stays chosen, because an empty list would mean the standard events.
    if (chosen.length > 0) onChange(chosen.join() === STANDARD_NAMES.join() ? [] : chosen);
  };
  const { "aria-describedby": describedBy } = controlAttributes("events", true, problem);
  return (
    <fieldset class="field choices event-choices" aria-describedby={describedBy}>
      <legend>{t`Events`}</legend>
      <div>
        {WEBHOOK_EVENTS.map(({ name, when }) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={isChosen(name)}
              aria-disabled={isChosen(name) && events.length === 1}
              aria-invalid={problem !== undefined}
              onChange={(event) => {
                toggle(name, event.currentTarget.checked);
                event.currentTarget.checked = isChosen(name);
              }}
            />
            <span>
              <code>{name}</code> <small>{t`when ${when}`}</small>
            </span>
          </label>
        ))}
      </div>
      <FieldNotes id="events" problem={problem} help={t`At least one.`} />
    </fieldset>
  );
}
