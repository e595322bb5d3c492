import type { ComponentChild } from "preact";
import type { Delivery, Entry } from "../../api/types";
import { capitalized } from "../../ui/words";
import { failureReason } from "./failure-text";
import { t } from "../../texts/translate";

const EVENT_LABELS: Record<string, string> = {
  agent_joined: t`An agent joined`,
  agent_unavailable: t`No agent was available`,
  chat_closed: t`Chat closed`,
  chat_finished: t`Chat closed`,
  chat_accepted: t`Chat accepted`,
  chat_returned: t`Given to a bot`,
  chat_assigned: t`Assigned to a CRM card`,
  chat_updated: t`Visitor details changed`,
  call_event: t`Call`,
  callback_requested: t`Callback requested`,
  offline_message: t`Message left while offline`,
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
  if (reason === undefined) return t`your system rejected it`;
  return reason.isQuoted
    ? t`your system rejected it: “${reason.text}”`
    : t`your system was not notified: ${reason.text}`;
}

/** Returns what is known beyond the type of an event: a chat can be closed by its bot, or because it was idle. */
function labelOf(entries: readonly Entry[], { type }: Entry): string {
  const by = entries.find(({ closed_by }) => closed_by !== undefined)?.closed_by;
  if (by === "bot") return t`Closed by the bot`;
  if (by === "idle") return t`Closed after a long silence`;
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
  const agentName = firstEntry.agent?.name;
  const isMine = firstEntry.agent?.id === me;
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
        <b>{isMine ? t`You joined` : t`${agentName} joined`}</b>
      ) : (
        <>
          <b>{label}</b>
          {agentName !== undefined && ` ${isMine ? t`by you` : t`by ${agentName}`}`}
        </>
      )}
      {firstEntry.text !== undefined && (
        <>
          {" · "}
          <span dir="auto">{firstEntry.text}</span>
        </>
      )}
      {isWebhookPending && ` · ${t`notifying your systems…`}`}
      {hasCrmAnswered && ` · ${t`CRM answered`}`}
      {failedWebhook !== undefined && <span class="bad"> · {webhookFailureText(failedWebhook)}</span>}
      {failedBotDelivery !== undefined && <span class="bad"> · {t`the bot was not notified`}</span>}
    </>
  );
}
