/* The parts of an API channel's page that are not its form: a test, the channel's address, and the rejected messages. */

import { useState } from "preact/hooks";
import type { ApiChannelDetails, ServerClause } from "../../api/types";
import { Icon } from "../../ui/icons";
import { TableHead } from "../../ui/table-head";
import { clockTime, dayLabel, fullTime } from "../../ui/time";
import { FormSection } from "../admin/detail-header";
import { ReceiverTest } from "../admin/receiver-test";
import { RotationDialog } from "../admin/secret";
import { ServerCheck } from "../admin/server-check";
import { useWorkspace } from "../workspace-context";
import { ChannelAddress, SignatureCode } from "./channel-address";
import { t } from "../../texts/translate";

const MAX_OLD_ADDRESSES = 4;
const ROTATION_TEXTS = {
  create: t`Create a new address`,
  keptTime: t`How long the old address stays valid`,
  created: t`The new address`,
};

/** Sends a sample message of an agent to the integrator, and shows the response. */
export function IntegratorTest({ channelId, hasChanges }: { channelId: string; hasChanges: boolean }) {
  const { api } = useWorkspace();
  const path = { channel_id: channelId };
  const send = (clause: ServerClause) => api.post("/admin/channels/{channel_id}/test", { path, body: { clause } });
  return (
    <FormSection title={t`Test of your server`}>
      <p class="quiet-text">
        {t`A message of an agent is sent to your server at once, signed like real ones. The visitor does not exist, and nothing is stored.`}
        {hasChanges && ` ${t`Changes that are not saved do not apply to the test.`}`}
      </p>
      <ReceiverTest label={t`Send a message to your server`} what="text" send={() => send("accepts")}>
        <ServerCheck send={send} />
      </ReceiverTest>
    </FormSection>
  );
}

interface ConnectSectionProps {
  channelId: string;
  oldEndpoints: ApiChannelDetails["old_endpoints"];
}

export function ConnectSection({ channelId, oldEndpoints }: ConnectSectionProps) {
  const { api } = useWorkspace();
  const [isRotating, setRotating] = useState(false);
  const [validUntil, setValidUntil] = useState(() => oldEndpoints.map(({ valid_until }) => valid_until));
  const rotate = async (keep_old_seconds: number) => {
    const { endpoint, old_endpoint_valid_until: until } = await api.post("/admin/channels/{channel_id}/rotate", {
      path: { channel_id: channelId },
      body: { keep_old_seconds },
    });
    setValidUntil(keep_old_seconds === 0 ? [] : [...validUntil, until].slice(-MAX_OLD_ADDRESSES));
    return {
      view: <ChannelAddress endpoint={endpoint} />,
      note:
        keep_old_seconds === 0
          ? t`It works now. All earlier addresses end within ten seconds.`
          : t`It works now. The old one is valid until ${fullTime(until)}.`,
    };
  };
  return (
    <FormSection title={t`Connect`}>
      <p class="quiet-text">
        {t`Your front end sends visitors’ messages to the channel’s address. It was shown when it was created, and cannot be shown again. Requests to your server are signed with the channel’s secret.`}
      </p>
      {validUntil.length > 0 && (
        <div class="field">
          <span class="label">{t`Old addresses that are still valid`}</span>
          <ul class="old-addresses">
            {validUntil.map((until, index) => (
              <li key={index}>{t`until ${fullTime(until)}`}</li>
            ))}
          </ul>
        </div>
      )}
      <div>
        <button type="button" class="btn line" onClick={() => setRotating(true)}>
          <Icon name="refresh-cw" />
          {t`Create a new address…`}
        </button>
      </div>
      <SignatureCode />
      {isRotating && (
        <RotationDialog
          title={t`Create a new address?`}
          texts={ROTATION_TEXTS}
          explanation={t`Front ends send messages to the new address. Up to four old ones stay valid, each for the time that was chosen for it.`}
          rotate={rotate}
          onClose={() => setRotating(false)}
        />
      )}
    </FormSection>
  );
}

export function RejectedMessages({ rejected }: { rejected: ApiChannelDetails["refused"] }) {
  if (rejected.length === 0) return null;
  const now = Math.floor(Date.now() / 1000);
  return (
    <FormSection title={t`Rejected messages, today and yesterday`}>
      <table class="plain-table">
        <TableHead columns={[t`Reason`, [t`Count`, "end"], [t`Last`, "end"]]} />
        <tbody>
          {rejected.map(({ day, reason, count, last_at }) => (
            <tr key={`${day} ${reason}`}>
              <td dir="auto">{reason}</td>
              <td class="num end">{count}</td>
              <td class="num end">
                {dayLabel(last_at, now)} {clockTime(last_at)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </FormSection>
  );
}
