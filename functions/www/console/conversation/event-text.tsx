import type { ComponentChild } from "preact";
import type { Entry } from "../../api/types";

const EVENT_LABELS: Record<string, string> = {
  agent_joined: "An agent joined",
  agent_unavailable: "No agent was available",
  chat_closed: "Chat closed",
  chat_finished: "Chat closed",
  chat_accepted: "Chat accepted",
  chat_assigned: "Assigned to a CRM card",
  chat_updated: "Visitor details changed",
  chat_transferred: "Chat transferred",
  transferred: "Chat transferred",
  call_event: "Call",
  offline_message: "Message left while offline",
};

/** Returns a label for a type that is missing from EVENT_LABELS, for example "Chat transferred" for
 * `chat_transferred`. */
const labelFromType = (type: string) => {
  const words = type.replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Returns the text of an event line: what happened, and which of the event's deliveries to webhooks or the bot have
 * failed or are pending. */
export function describeEvents(entries: readonly Entry[], me: number): ComponentChild {
  const [firstEntry] = entries;
  if (firstEntry === undefined) return null;
  const label = EVENT_LABELS[firstEntry.type] ?? labelFromType(firstEntry.type);
  const agentName = firstEntry.agent ? (firstEntry.agent.id === me ? "you" : firstEntry.agent.name) : undefined;
  const webhookDeliveries = entries.flatMap((entry) => entry.webhook_delivery ?? []);
  const failedWebhook = webhookDeliveries.find((delivery) => delivery.state === "failed");
  const isWebhookPending = webhookDeliveries.some((delivery) => delivery.state === "pending");
  const failedBotDelivery = entries
    .flatMap((entry) => entry.bot_delivery ?? [])
    .find((delivery) => delivery.state === "failed");
  return (
    <>
      <b>{label}</b>
      {agentName !== undefined && ` by ${agentName}`}
      {firstEntry.text !== undefined && (
        <>
          {" · "}
          <span dir="auto">{firstEntry.text}</span>
        </>
      )}
      {isWebhookPending && " · notifying your systems…"}
      {failedWebhook !== undefined && (
        <span class="bad">
          {" "}
          · your system rejected it{failedWebhook.error ? `: “${failedWebhook.error.message}”` : ""}
        </span>
      )}
      {failedBotDelivery !== undefined && <span class="bad"> · the bot was not notified</span>}
    </>
  );
}
