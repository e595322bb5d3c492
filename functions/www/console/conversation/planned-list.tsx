import { useState } from "preact/hooks";
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
  const [isBusy, setBusy] = useState(false);
  const { agent, text, send_at: at } = message;
  const row = chats.row(chatId);
  const isOpen = row?.state !== "closed";
  const isMine = row !== undefined && chats.isMine(row);
  const canChange = isAdmin || agent.id === me.id || isMine;
  const time = `${dayLabel(at, currentMinute.value)}, ${clockTime(at)}`;
  const run = async (change: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    await change();
    setBusy(false);
  };
  return (
    <li>
      <Icon name="clock" class="small" />
      <span class="message" dir="auto">
        <b title={fullTime(at)}>{time}</b>
        {agent.id !== me.id && ` · ${agent.name}`} <LinkedText text={text} />
      </span>
      {canChange && (
        <span class="acts">
          {isOpen && (
            <button
              type="button"
              class="btn"
              aria-label={t`Send now: ${time}`}
              aria-disabled={isBusy}
              onClick={() => void run(() => plannedMessages.sendNow(chatId, message))}
            >
              {t`Send now`}
            </button>
          )}
          <button
            type="button"
            class="btn"
            aria-label={t`Cancel: ${time}`}
            aria-disabled={isBusy}
            onClick={() => void run(() => plannedMessages.cancel(chatId, message, isMine && isOpen))}
          >
            {t`Cancel`}
          </button>
        </span>
      )}
    </li>
  );
}
