/* Where the events of a webhook go, and what its form asks for that. */

import type { Webhook } from "../../api/types";
import { t } from "../../texts/translate";

type WebhookTarget = Webhook["target"];

export const TARGET_OPTIONS: readonly { value: WebhookTarget; label: string }[] = [
  { value: "server", label: t`Your server` },
  { value: "sqs", label: t`An SQS queue in your AWS account` },
  { value: "eventbridge", label: t`An EventBridge event bus in your AWS account` },
  { value: "pull", label: t`Your program fetches them` },
];

export const PULL_HELP = t`For servers that cannot be reached from outside: nothing is sent, and your program asks for events at a secret address.`;

/** The attributes of a field for the URL of a queue or for an ARN. */
export const ADDRESS_INPUT = { spellcheck: false, dir: "ltr" } as const;

interface AddressField {
  label: string;
  help: string;
  placeholder: string;
}

export const ADDRESSES: Record<Exclude<WebhookTarget, "pull">, AddressField> = {
  server: {
    label: t`Address of your server`,
    help: t`Each event is sent there as a signed POST request.`,
    placeholder: "https://",
  },
  sqs: {
    label: t`URL of the queue`,
    help: t`Each event is a message. In a FIFO queue, each chat is a message group.`,
    placeholder: "https://sqs.eu-central-1.amazonaws.com/123456789012/chats",
  },
  eventbridge: {
    label: t`ARN of the event bus`,
    help: t`Each event is put on the bus with the source switchboard. It can have 256 KB.`,
    placeholder: "arn:aws:events:eu-central-1:123456789012:event-bus/chats",
  },
};

/** Says what the trust policy of a role must require. */
export const roleHelp = (externalId: string) =>
  t`The service assumes this role. Its trust policy must require the external id ${externalId}.`;

/** The name by which an admin knows the webhook: the host of its server, the name of its queue or event bus, or its id. */
export function shortName({ target, url, webhook_id }: Pick<Webhook, "target" | "url" | "webhook_id">): string {
  if (url === null) return webhook_id;
  return target === "server" ? new URL(url).host : (url.split("/").at(-1) ?? url);
}
