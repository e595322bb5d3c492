import type { ComponentChild } from "preact";
import type { Delivery, Entry } from "../../api/types";
import { capitalized } from "../../ui/words";
import { failureReason } from "./failure-text";

const EVENT_LABELS: Record<string, string> = {
  agent_joined: "An agent joined",
  agent_unavailable: "No agent was available",
  chat_closed: "Chat closed",
  chat_finished: "Chat closed",
  chat_accepted: "Chat accepted",
  chat_returned: "Given to a bot",
  chat_assigned: "Assigned to a CRM card",
  chat_updated: "Visitor details changed",
  call_event: "Call",
  callback_requested: "Callback requested",
  offline_message: "Message left while offline",
};

/** The webhook events whose responses fill the visitor pane with data from the CRM. */
const CRM_EVENT_TYPES = new Set(["chat_accepted", "chat_updated"]);

/** Returns a label for a type that is missing from EVENT_LABELS, for example "Call missed" for `call_missed`. */
const labelFromType = (type: string) => {
  const words = type.replace(/_/g, " ");
  return capitalized(words);
};

/** Returns why a webhook did not get an event: it could not be reached, or it answered with an error of its own. */
function webhookFailureText(delivery: Delivery): string {
  const reason = failureReason(delivery);
  if (reason === undefined) return "your system rejected it";
  return reason.isQuoted ? `your system rejected it: “${reason.text}”` : `your system was not notified: ${reason.text}`;
}

/** Returns what is known beyond the type of an event: a chat can be closed by its bot, or because it was idle. */
function labelOf(entries: readonly Entry[], { type }: Entry): string {
  const by = entries.find(({ closed_by }) => closed_by !== undefined)?.closed_by;
  if (by === "bot") return "Closed by the bot";
  if (by === "idle") return "Closed after a long silence";
  return EVENT_LABELS[type] ?? labelFromType(type);
}

/** Returns the text of an event line: what happened, and which of the event's deliveries to webhooks or the bot have
 * failed or are pending. */
export function describeEvents(entries: readonly Entry[], me: number): ComponentChild {
  const [firstEntry] = entries;
  if (firstEntry === undefined) return null;
  // A transfer is a system entry of the type text, for example "Ann transferred the chat to Ben".
  if (firstEntry.type === "text") return <span dir="auto">{firstEntry.text}</span>;
  const label = labelOf(entries, firstEntry);
  const agentName = firstEntry.agent ? (firstEntry.agent.id === me ? "you" : firstEntry.agent.name) : undefined;
  const webhookDeliveries = entries.flatMap((entry) => entry.webhook_delivery ?? []);
  const failedWebhook = webhookDeliveries.find((delivery) => delivery.state === "failed");
  const isWebhookPending = webhookDeliveries.some((delivery) => delivery.state === "pending");
  const hasCrmAnswered =
    CRM_EVENT_TYPES.has(firstEntry.type) && webhookDeliveries.some((delivery) => delivery.state === "delivered");
  const failedBotDelivery = entries
    .flatMap((entry) => entry.bot_delivery ?? [])
    .find((delivery) => delivery.state === "failed");
  return (
    <>
      {firstEntry.type === "agent_joined" && agentName !== undefined ? (
        <b>{agentName === "you" ? "You" : agentName} joined</b>
      ) : (
        <>
          <b>{label}</b>
          {agentName !== undefined && ` by ${agentName}`}
        </>
      )}
      {firstEntry.text !== undefined && (
        <>
          {" · "}
          <span dir="auto">{firstEntry.text}</span>
        </>
      )}
      {isWebhookPending && " · notifying your systems…"}
      {hasCrmAnswered && " · CRM answered"}
      {failedWebhook !== undefined && <span class="bad"> · {webhookFailureText(failedWebhook)}</span>}
      {failedBotDelivery !== undefined && <span class="bad"> · the bot was not notified</span>}
    </>
  );
}
