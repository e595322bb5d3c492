import type { WebhookEventName } from "../../api/types";
import { controlAttributes, FieldNotes } from "../../ui/form-fields";

interface WebhookEvent {
  name: WebhookEventName;
  when: string;
}

/** The events that a webhook gets unless it names others. */
const STANDARD_EVENTS: readonly WebhookEvent[] = [
  { name: "chat_accepted", when: "an agent accepts a chat" },
  { name: "chat_updated", when: "data of the visitor changes" },
  { name: "chat_assigned", when: "an agent links a chat to a CRM card" },
  { name: "chat_finished", when: "a chat ends" },
  { name: "offline_message", when: "a visitor sends the offline form" },
  { name: "call_event", when: "a phone call has a new status" },
];
const STANDARD_NAMES = STANDARD_EVENTS.map(({ name }) => name);

/** The events of webhooks, and when each is sent. */
export const WEBHOOK_EVENTS: readonly WebhookEvent[] = [
  ...STANDARD_EVENTS,
  { name: "chat_opened", when: "a chat is opened" },
  { name: "chat_waiting", when: "a chat begins to wait for an agent" },
  { name: "bot_handed_over", when: "a bot hands its chat over, or fails" },
  { name: "chat_joined", when: "an agent gets a chat" },
  { name: "chat_transferred", when: "a chat is given to another agent, a department or a bot" },
  { name: "chat_rated", when: "a visitor rates a chat" },
  { name: "chat_ended", when: "a chat is closed, whoever took part" },
  { name: "message", when: "a visitor, an agent or a bot writes" },
  { name: "delivery_failed", when: "a message to a visitor is not delivered" },
  { name: "delivered_late", when: "a message is delivered after its failure" },
  { name: "visitor_blacklisted", when: "a visitor is blacklisted" },
];

/** Returns the events of a webhook in words. An empty list stands for the standard events. */
export const eventsText = (events: readonly WebhookEventName[]) =>
  events.length === 0 ? "Standard events" : events.join(", ");

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
    const names = WEBHOOK_EVENTS.map(({ name }) => name);
    const chosen = names.filter((name) => (name === toggled ? isOn : isChosen(name)));
    // The last chosen event stays chosen, because an empty list would mean the standard events.
    if (chosen.length > 0) onChange(chosen.join() === STANDARD_NAMES.join() ? [] : chosen);
  };
  const { "aria-describedby": describedBy } = controlAttributes("events", true, problem);
  return (
    <fieldset class="field choices event-choices" aria-describedby={describedBy}>
      <legend>Events</legend>
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
              <code>{name}</code> <small>when {when}</small>
            </span>
          </label>
        ))}
      </div>
      <FieldNotes id="events" problem={problem} help="At least one." />
    </fieldset>
  );
}
