/* The kinds of receivers to which deliveries are sent: how the delivery log and the reports name them. */

import type { DeliveryTarget, OutageTarget, ReportTotals, Webhook } from "../../api/types";
import { t } from "../../texts/translate";

interface TargetNames {
  /** All receivers of this kind, in the filter of the delivery log. */
  all: string;
  /** A receiver whose name is not known. */
  one: string;
  /** The failed deliveries to receivers of this kind, in reports. */
  failed: string;
  /** The same within a sentence. */
  to: string;
  reportField: keyof ReportTotals["failed_deliveries"];
  fill: "danger" | "danger-stripes" | "dots" | "rest";
  /** Whether reports leave the kind out if no delivery to it has failed, because most accounts do not use it. */
  isRare?: true;
}

export const TARGETS: Record<DeliveryTarget, TargetNames> = {
  channel: {
    all: t`Channels`,
    one: t`A channel`,
    failed: t`To channels`,
    to: t`to channels`,
    reportField: "channel",
    fill: "danger",
  },
  webhook: {
    all: t`Webhooks`,
    one: t`A webhook`,
    failed: t`To webhooks`,
    to: t`to webhooks`,
    reportField: "webhook",
    fill: "danger-stripes",
  },
  sqs: {
    all: t`Queues (SQS)`,
    one: t`A queue`,
    failed: t`To queues`,
    to: t`to queues`,
    reportField: "sqs",
    fill: "danger-stripes",
    isRare: true,
  },
  eventbridge: {
    all: t`Event buses (EventBridge)`,
    one: t`An event bus`,
    failed: t`To event buses`,
    to: t`to event buses`,
    reportField: "eventbridge",
    fill: "danger-stripes",
    isRare: true,
  },
  bot: { all: t`Bots`, one: t`A bot`, failed: t`To bots`, to: t`to bots`, reportField: "bot", fill: "dots" },
  call: {
    all: t`Telephony`,
    one: t`The telephony provider`,
    failed: t`Call orders`,
    to: t`to the telephony provider`,
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
