/* The receivers that fail at the moment, above the delivery log. */

import type { Outage } from "../../api/types";
import { Icon } from "../../ui/icons";
import { fullTime } from "../../ui/time";
import { canHaveOutage, isWebhookTarget } from "../admin/delivery-targets";
import { OUTAGE_TEXTS, ResumeButton } from "../admin/late-delivery";
import { webhookName, type Receivers } from "./log-filter";
import { rich, t } from "../../texts/translate";

interface OutageListProps {
  outages: readonly Outage[];
  receivers: Receivers | undefined;
  onResumed: () => void;
}

export function OutageList({ outages, receivers, onResumed }: OutageListProps) {
  if (outages.length === 0) return null;
  return (
    <ul class="outages" aria-label={t`Receivers that fail`}>
      {outages.map((outage) => {
        const { target, receiver_id, since, status } = outage;
        return (
          <li key={`${target} ${receiver_id}`} class={status === "none" ? "notice" : "notice bad"}>
            <Icon name="triangle-alert" />
            <span>
              {rich`${(<b dir="auto">{receiverTitle(outage, receivers)}</b>)} since ${fullTime(since)}. ${OUTAGE_TEXTS[status]}`}
            </span>
            {canHaveOutage(target) && (
              <ResumeButton
                target={target}
                receiverId={receiver_id}
                isOff={status === "switched_off"}
                onResumed={onResumed}
              />
            )}
          </li>
        );
      })}
    </ul>
  );
}

function receiverTitle({ target, receiver_id }: Outage, receivers: Receivers | undefined): string {
  if (isWebhookTarget(target)) {
    const webhook = receivers?.webhooks.find(({ webhook_id }) => webhook_id === receiver_id);
    return webhook === undefined ? t`A webhook` : webhookName(webhook);
  }
  return receivers?.channels.find(({ channel_id }) => channel_id === receiver_id)?.name ?? t`A channel`;
}
