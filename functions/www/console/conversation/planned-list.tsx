import type { PlannedMessage } from "../../api/types";
import { Icon } from "../../ui/icons";
import { LinkedText } from "../../ui/linked-text";
import { clockTime, currentMinute, dayLabel, fullTime } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** The messages that agents have planned to send later in a chat. */
export function PlannedList({ chatId }: { chatId: number }) {
  const planned = useWorkspace().timelines.open(chatId).chatDetails.value?.planned ?? [];
  if (planned.length === 0) return null;
  return (
    <ul class="planned" aria-label={t`Planned messages`}>
      {planned.map((message) => (
        <PlannedItem key={message.planned_id} chatId={chatId} message={message} />
      ))}
    </ul>
  );
}

function PlannedItem({ chatId, message }: { chatId: number; message: PlannedMessage }) {
  const { chats, isAdmin, me, plannedMessages } = useWorkspace();
  const { planned_id: plannedId, agent, text, send_at: at } = message;
  const row = chats.row(chatId);
  const isOpen = row?.state !== "closed";
  const canChange = isAdmin || agent.id === me.id || (row !== undefined && chats.isMine(row));
  return (
    <li>
      <Icon name="clock" class="small" />
      <span class="clip" dir="auto">
        <b title={fullTime(at)}>
          {dayLabel(at, currentMinute.value)}, {clockTime(at)}
        </b>
        {agent.id !== me.id && ` · ${agent.name}`} <LinkedText text={text} />
      </span>
      {canChange && (
        <>
          {isOpen && (
            <button type="button" class="btn" onClick={() => void plannedMessages.sendNow(chatId, plannedId)}>
              {t`Send now`}
            </button>
          )}
          <button type="button" class="btn" onClick={() => void plannedMessages.cancel(chatId, message)}>
            {t`Cancel`}
          </button>
        </>
      )}
    </li>
  );
}
