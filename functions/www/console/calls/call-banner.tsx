import "./calls.css";
import { Icon } from "../../ui/icons";
import { currentMinute } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { openChat } from "../state/page/route";
import { MAX_CALL_SECONDS, type RunningCall } from "../state/calls/running-calls";
import { visitorName } from "../state/list/chats";
import { RunningTime } from "./call-card";
import { callStatus, callTitle } from "../state/calls/call-text";
import { t } from "../../texts/translate";

/** Shows the calls in which this agent takes part, on every page. */
export function CallBanner() {
  const { runningCalls, chats, me, reading } = useWorkspace();
  const isMine = ({ call, since }: RunningCall) =>
    call.agent?.id === me.id && currentMinute.value - since < MAX_CALL_SECONDS;
  const mine = [...runningCalls.byChat.value].filter(([, running]) => isMine(running));
  return (
    <div class="call-banners" role="status">
      {mine.map(([chatId, { call, since }]) => {
        const row = chats.row(chatId);
        return (
          <p key={chatId} class="call-banner">
            <Icon name="phone-call" />
            <span class="clip">
              <b>{callTitle(call)}</b>
              {" · "}
              <bdi>{row === undefined ? call.phone : visitorName(row)}</bdi>
              {" · "}
              {callStatus(call, me.id)}
              <RunningTime since={since} />
            </span>
            {reading.openChatId.value !== chatId && (
              <button type="button" onClick={() => openChat(chatId)}>
                {t`Open chat`}
              </button>
            )}
          </p>
        );
      })}
    </div>
  );
}
