import type { WebhookEventName } from "../../api/types";
import { controlAttributes, FieldNotes } from "../../ui/form-fields";

/** The events of webhooks, and when each is sent. */
export const WEBHOOK_EVENTS: readonly { name: WebhookEventName; when: string }[] = [
  { name: "chat_accepted", when: "an agent accepts a chat" },
  { name: "chat_updated", when: "data of the visitor changes" },
  { name: "chat_assigned", when: "an agent links a chat to a CRM card" },
  { name: "chat_finished", when: "a chat ends" },
  { name: "offline_message", when: "a visitor sends the offline form" },
  { name: "call_event", when: "a phone call has a new status" },
];

/** Returns the events of a webhook in words. An empty list stands for all events. */
export const eventsText = (events: readonly WebhookEventName[]) =>
  events.length === 0 ? "All events" : events.join(", ");

interface EventFieldsProps {
  /** Empty for all events. */
  events: readonly WebhookEventName[];
  problem: string | undefined;
  onChange: (events: WebhookEventName[]) => void;
}

/** The events that a webhook receives. If all are chosen, events that are added to the service later are included
 * too. */
export function EventFields({ events, problem, onChange }: EventFieldsProps) {
  const isChosen = (name: WebhookEventName) => events.length === 0 || events.includes(name);
  const toggle = (toggled: WebhookEventName, isOn: boolean) => {
    const names = WEBHOOK_EVENTS.map(({ name }) => name);
    const chosen = names.filter((name) => (name === toggled ? isOn : isChosen(name)));
    // The last chosen event stays chosen, because an empty list would mean all events.
    if (chosen.length > 0) onChange(chosen.length === names.length ? [] : chosen);
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
      <FieldNotes
        id="events"
        problem={problem}
        help="At least one. If all are chosen, new kinds of events are included."
      />
    </fieldset>
  );
}
