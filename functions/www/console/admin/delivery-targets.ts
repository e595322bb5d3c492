/* The kinds of receivers to which deliveries are sent: how the delivery log and the reports name them. */

import type { DeliveryTarget, OutageTarget, ReportTotals, Webhook } from "../../api/types";

interface TargetNames {
  /** All receivers of this kind, in the filter of the delivery log. */
  all: string;
  /** A receiver whose name is not known. */
  one: string;
  /** The failed deliveries to receivers of this kind, in reports. */
  failed: string;
  reportField: keyof ReportTotals["failed_deliveries"];
  fill: "danger" | "danger-stripes" | "dots" | "rest";
  /** Whether reports leave the kind out if no delivery to it has failed, because most accounts do not use it. */
  isRare?: true;
}

export const TARGETS: Record<DeliveryTarget, TargetNames> = {
  channel: { all: "Channels", one: "A channel", failed: "To channels", reportField: "channel", fill: "danger" },
  webhook: { all: "Webhooks", one: "A webhook", failed: "To webhooks", reportField: "webhook", fill: "danger-stripes" },
  sqs: {
    all: "Queues (SQS)",
    one: "A queue",
    failed: "To queues",
    reportField: "sqs",
    fill: "danger-stripes",
    isRare: true,
  },
  eventbridge: {
    all: "Event buses (EventBridge)",
    one: "An event bus",
    failed: "To event buses",
    reportField: "eventbridge",
    fill: "danger-stripes",
    isRare: true,
  },
  bot: { all: "Bots", one: "A bot", failed: "To bots", reportField: "bot", fill: "dots" },
  call: {
    all: "Telephony",
    one: "The telephony provider",
    failed: "Call orders",
    reportField: "telephony",
    fill: "rest",
    isRare: true,
  },
};

/** Where the events of webhooks go. */
const WEBHOOK_TARGETS: Record<Webhook["target"], DeliveryTarget> = {
  server: "webhook",
  sqs: "sqs",
  eventbridge: "eventbridge",
  pull: "webhook",
};

export const deliveryTargetOf = ({ target }: Pick<Webhook, "target">) => WEBHOOK_TARGETS[target];

export const isWebhookTarget = (target: DeliveryTarget) => Object.values(WEBHOOK_TARGETS).includes(target);

/** Whether receivers of this kind can have an outage. */
export const canHaveOutage = (target: DeliveryTarget): target is OutageTarget =>
  target === "channel" || isWebhookTarget(target);

export const TARGET_NAMES = Object.keys(TARGETS) as DeliveryTarget[];
