/* What happens to deliveries that have failed: the settings of a channel or a webhook, and its outage. */

import { useState } from "preact/hooks";
import type { Outage, OutageTarget } from "../../api/types";
import { Switch } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { canHaveOutage } from "./delivery-targets";
import type { DraftForm } from "./draft-form";
import { t } from "../../texts/translate";

interface LateDeliveryDraft {
  late_delivery: boolean;
  strict_order: boolean;
}

interface LateDeliveryFieldsProps {
  draft: LateDeliveryDraft;
  change: DraftForm<LateDeliveryDraft>["change"];
  /** What is delivered, in the plural. */
  what: string;
}

/** Strict order needs late delivery, so each switch also sets the other one if necessary. */
export function LateDeliveryFields({ draft, change, what }: LateDeliveryFieldsProps) {
  return (
    <>
      <Switch
        label={t`Deliver late`}
        help={t`${what} that could not be delivered in nine seconds are tried again for three days.`}
        isOn={draft.late_delivery}
        onChange={(late_delivery) => change(late_delivery ? { late_delivery } : { late_delivery, strict_order: false })}
      />
      <Switch
        label={t`Keep the order strictly`}
        help={t`${what} of a chat wait until the earlier ones are delivered.`}
        isOn={draft.strict_order}
        onChange={(strict_order) => change(strict_order ? { strict_order, late_delivery: true } : { strict_order })}
      />
    </>
  );
}

export const OUTAGE_TEXTS: Record<Outage["status"], string> = {
  none: t`Your server does not accept what is sent to it. It is tried again every minute.`,
  reported: t`Your server has not accepted anything for more than a day. It is tried again every minute.`,
  switched_off: t`Your server has not accepted anything for five days. Nothing is sent to it any more.`,
};

interface OutageNoticeProps {
  outage: Pick<Outage, "target" | "receiver_id" | "status">;
  onResumed: () => void;
}

/** Says that a receiver has failed for long, and switches it on again. */
export function OutageNotice({ outage: { target, receiver_id, status }, onResumed }: OutageNoticeProps) {
  if (status === "none" || !canHaveOutage(target)) return null;
  return (
    <p class="notice bad" role="status">
      <Icon name="triangle-alert" />
      <span>{OUTAGE_TEXTS[status]}</span>
      <ResumeButton target={target} receiverId={receiver_id} isOff={status === "switched_off"} onResumed={onResumed} />
    </p>
  );
}

interface ResumeButtonProps {
  target: OutageTarget;
  receiverId: string;
  isOff: boolean;
  onResumed: () => void;
}

export function ResumeButton({ target, receiverId, isOff, onResumed }: ResumeButtonProps) {
  const { api } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const resume = async () => {
    setBusy(true);
    try {
      await api.post("/admin/outages", { body: { target, receiver_id: receiverId } });
      toast(isOff ? t`Switched on. What waits follows in a moment.` : t`One delivery is tried now.`);
      onResumed();
    } catch (error) {
      toast(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class="btn line" disabled={isBusy} onClick={() => void resume()}>
      {isOff ? t`Resume` : t`Try now`}
    </button>
  );
}
