import "./calls.css";
import { useState } from "preact/hooks";
import type { Call } from "../../api/types";
import { Icon, type IconName } from "../../ui/icons";
import { currentSecond } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { callStatus, callTitle, formatTalkTime, isInProgress } from "../state/calls/call-text";
import { rich, t } from "../../texts/translate";

const ICONS: Record<Call["type"], IconName> = {
  callback: "phone-call",
  incoming: "phone-incoming",
  outgoing: "phone-outgoing",
};

/** A call in the message log: its kind, its status, the number, who was called, and the recording. */
export function CallCard({ call, since }: { call: Call; since: number }) {
  const { me } = useWorkspace();
  const isRunning = isInProgress(call);
  const called = isRunning ? undefined : call.agent;
  return (
    <div class="bubble call-card" role="group" aria-label={callTitle(call)}>
      <span class={call.status === "error" ? "call-icon bad" : isRunning ? "call-icon running" : "call-icon"}>
        <Icon name={call.status === "error" ? "phone-missed" : ICONS[call.type]} />
      </span>
      <div>
        <b>{callTitle(call)}</b>
        <p class={call.status === "error" ? "bad" : undefined}>
          {callStatus(call, me.id)}
          {isRunning && <RunningTime since={since} />}
        </p>
        <small>
          {call.phone === "" ? t`Hidden number` : <bdi>{call.phone}</bdi>}
          {called !== undefined && (
            <>
              {" · "}
              {called.id === me.id ? t`with you` : rich`with ${(<bdi>{called.name}</bdi>)}`}
            </>
          )}
        </small>
      </div>
      {call.record_url !== undefined && <Recording address={call.record_url} />}
    </div>
  );
}

/** The time since a call was started, which includes the ringing. */
export function RunningTime({ since }: { since: number }) {
  const seconds = Math.max(0, Math.floor(currentSecond.value - since));
  return (
    <span class="num" aria-hidden="true">
      {" · "}
      {t`${formatTalkTime(seconds)} since the start`}
    </span>
  );
}

/** A player for the recording of a call, or a link if the recording cannot be played here, for example because it
 * requires a password. Renders nothing if the address is not an `http:` or `https:` URL. */
function Recording({ address }: { address: string }) {
  const [isBroken, setBroken] = useState(false);
  if (!/^https?:\/\//i.test(address)) return null;
  if (isBroken)
    return (
      <a class="link" href={address} target="_blank" rel="noopener noreferrer">
        {t`Recording`} <Icon name="external-link" class="small" />
      </a>
    );
  return <audio src={address} controls preload="none" aria-label={t`Recording`} onError={() => setBroken(true)} />;
}
