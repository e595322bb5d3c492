import "./connection-banner.css";
import { Icon } from "../ui/icons";
import { currentSecond } from "../ui/time";
import { useWorkspace } from "./workspace-context";
import { t } from "../texts/translate";

/** Shows a banner while the connection is lost or interrupted. It says when the next attempt to connect starts. */
export function ConnectionBanner() {
  const { sync } = useWorkspace();
  const connection = sync.connection.value;
  if (connection.kind === "starting" || connection.kind === "live") return null;
  if (connection.kind === "polling" && connection.nextAttemptAt === undefined) return null;
  const isLost = connection.kind === "lost";
  const text = !isLost
    ? t`The live connection is interrupted.`
    : navigator.onLine
      ? t`The service does not respond.`
      : t`You are offline.`;
  const detail = isLost ? t`Your messages are stored and sent later.` : t`New messages are loaded every few seconds.`;
  return (
    <div class={isLost ? "connection-banner bad" : "connection-banner"} role="status">
      <Icon name={isLost ? "wifi-off" : "refresh-cw"} />
      <span>
        {text} <span class="more-words">{detail}</span>
      </span>
      <NextAttempt at={connection.nextAttemptAt} />
      <button type="button" onClick={() => sync.reconnectNow()}>
        {t`Try now`}
      </button>
    </div>
  );
}

function NextAttempt({ at }: { at: number | undefined }) {
  if (at === undefined) return null;
  const seconds = Math.max(0, Math.ceil(at / 1000 - currentSecond.value));
  return (
    <span class="num clip" aria-hidden="true">
      {seconds === 0 ? (
        t`Trying…`
      ) : (
        <>
          <span class="more-words">{t`Next attempt`} </span>
          {t`in ${seconds} s`}
        </>
      )}
    </span>
  );
}
