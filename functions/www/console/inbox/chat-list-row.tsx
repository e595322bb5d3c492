import { memo } from "../../ui/memo-component";
import type { ChatRow } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { BLOCKED_LINK, textOfMarkdown } from "../../ui/linked-text";
import {
  clockTime,
  dayLabel,
  formatAgo,
  formatElapsed,
  fullTime,
  currentMinute,
  currentSecond,
  formatElapsedSpoken,
} from "../../ui/time";
import { AnswerChip, OfferChip } from "../organizing/assignment-chips";
import { ChatTags } from "../organizing/tag-label";
import { useWorkspace } from "../workspace-context";
import { callStatus } from "../state/calls/call-text";
import { handoverLabels, isPressing } from "../state/chat/handover-text";
import { chatHref } from "../state/page/route";
import { isAnonymous, visitorName, type Tab } from "../state/list/chats";
import { t } from "../../texts/translate";

/** Waiting times longer than this are shown in red. */
const LONG_WAIT_SECONDS = 120;

const MEDIA_LABELS: Record<string, string> = {
  photo: t`Photo`,
  video: t`Video`,
  audio: t`Audio`,
  voice: t`Voice message`,
  sticker: t`Sticker`,
  document: t`File`,
  location: t`Location`,
  call: t`Call`,
  deleted: t`Message deleted`,
};

function WaitingTime({ since }: { since: number }) {
  const seconds = currentSecond.value - since;
  return (
    <time class={seconds >= LONG_WAIT_SECONDS ? "late" : "wait"} title={t`Waiting since ${fullTime(since)}`}>
      <span class="sr">{t`Waiting for ${formatElapsedSpoken(seconds)}`}</span>
      <span aria-hidden="true">{formatElapsed(seconds)}</span>
    </time>
  );
}

function TimeAgo({ at }: { at: number }) {
  return <time title={fullTime(at)}>{formatAgo(at, Math.max(currentMinute.value, at))}</time>;
}

interface ChatListRowProps {
  row: ChatRow;
  isSelected: boolean;
  /** Whether the Tab key moves the focus to this row. The arrow keys move the focus to the other rows. */
  isTabStop: boolean;
  tab: Tab | "search";
}

export const ChatListRow = memo(function ChatListRow({ row, isSelected, isTabStop, tab }: ChatListRowProps) {
  const { chats, typing, drafts, runningCalls, me } = useWorkspace();
  const running = runningCalls.byChat.value.get(row.chat_id);
  const id = row.chat_id;
  const isUnread = chats.isUnread(row);
  const count = chats.unreadCounts.value.get(id) ?? 0;
  const name = visitorName(row);
  const isWaiting = row.state === "waiting";
  const owner = row.agent !== null && row.agent.id !== me.id && row.state === "active" ? row.agent.name : undefined;
  return (
    <a
      class={isUnread ? "row new" : "row"}
      href={chatHref(id)}
      aria-current={isSelected}
      tabIndex={isTabStop ? 0 : -1}
      data-chat={id}
    >
      <Avatar id={row.visitor.number} name={row.visitor.name} isAnonymous={isAnonymous(row.visitor.name)} />
      <span class="who clip" dir="auto">
        {name}
      </span>
      {isWaiting || (chats.isMine(row) && chats.awaitsReply(row)) ? (
        isWaiting ? (
          <WaitingTime since={chats.waitingSince(row)} />
        ) : (
          <TimeAgo at={chats.waitingSince(row)} />
        )
      ) : (
        <TimeAgo at={row.last_message?.timestamp ?? row.updated_at} />
      )}
      <span class="say" dir="auto">
        {typing.visitors.notices.value.has(id) ? (
          <span class="is-typing">{t`is typing…`}</span>
        ) : drafts.chatIds.value.has(id) && !isSelected ? (
          <>
            <span class="draft">{t`Draft:`} </span>
            {drafts.read(id).text}
          </>
        ) : (
          <LastWords row={row} />
        )}
      </span>
      {isUnread &&
        (count > 0 ? (
          <b class="unread">
            {count > 99 ? "99+" : count}
            <span class="sr"> {t`unread`}</span>
          </b>
        ) : (
          <b class="unread dot">
            <span class="sr">{t`unread`}</span>
          </b>
        ))}
      <span class="meta">
        {running !== undefined && <span class="chip call">{t`On the phone: ${callStatus(running.call, me.id)}`}</span>}
        {isWaiting && row.offer !== undefined && <OfferChip row={row} />}
        {row.answer_due !== undefined && <AnswerChip row={row} />}
        {isWaiting && row.handover !== null && <HandoverChips handover={row.handover} />}
        {row.failed_messages > 0 && <span class="chip bad">{t`${row.failed_messages} not delivered`}</span>}
        {chats.hasUnreadMention(row) && <span class="chip bad">{t`Mentions you`}</span>}
        <ChatTags tagIds={row.tag_ids} />
        {chats.isSnoozed(row) && <SnoozedChip until={row.snoozed_until} />}
        {chats.isBackFromSnooze(row) && <span class="chip bot">{t`Back from snooze`}</span>}
        <span class="chip">{row.channel.name}</span>
        {row.department !== null && <span class="chip">{row.department.name}</span>}
        {row.state === "bot" && tab !== "bot" && <span class="chip bot">{t`Bot`}</span>}
        {owner !== undefined && <span class="chip">{owner}</span>}
        {tab === "search" && row.state === "closed" && <span class="chip">{t`Closed`}</span>}
      </span>
    </a>
  );
});

const SnoozedChip = ({ until = 0 }: { until: number | undefined }) => (
  <span class="chip" title={fullTime(until)}>
    {t`Snoozed until ${dayLabel(until, currentMinute.value)}, ${clockTime(until)}`}
  </span>
);

function HandoverChips({ handover }: { handover: NonNullable<ChatRow["handover"]> }) {
  return handoverLabels(handover).map((label, index) => (
    <span key={label} class={index === 0 && isPressing(handover.priority) ? "chip bad" : "chip bot"}>
      {label}
    </span>
  ));
}

/** What the list shows of the conversation: until an agent accepts the chat, the summary of the bot that handed it over,
 * if there is one; otherwise the last message. */
function LastWords({ row }: { row: ChatRow }) {
  const summary = row.state === "waiting" ? row.handover?.summary : undefined;
  if (summary === undefined || summary === null) return <LastMessage row={row} />;
  return (
    <>
      <span class="by">{t`Summary:`} </span>
      {textOfMarkdown(summary)}
    </>
  );
}

function LastMessage({ row }: { row: ChatRow }) {
  const { me, roster } = useWorkspace();
  const last = row.last_message;
  if (last === null) return <span class="by">{t`No messages yet`}</span>;
  const kind = MEDIA_LABELS[last.type];
  const text = last.text === BLOCKED_LINK ? t`link blocked` : last.text;
  const messageText = kind === undefined ? text : text === "" ? kind : `${kind}: ${text}`;
  const by =
    last.from === "bot"
      ? `${t`Bot`}: `
      : last.from === "agent"
        ? `${authorName(last.agent_id, row, me.id, roster.people.value?.agents)}: `
        : undefined;
  return (
    <>
      {by !== undefined && <span class="by">{by}</span>}
      {messageText}
    </>
  );
}

/** Returns how the list names the agent who wrote a message. The chat may have another owner now. */
function authorName(
  id: number | null,
  row: ChatRow,
  me: number,
  colleagues: readonly { id: number; name: string }[] = [],
): string {
  if (id === me) return t`You`;
  const author = row.agent?.id === id ? row.agent : colleagues.find((colleague) => colleague.id === id);
  return author?.name.split(" ")[0] ?? t`Agent`;
}

export function RowSkeletons({ count = 6 }: { count?: number }) {
  return (
    <div class="appear-late" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <div key={index} class="row-skeleton">
          <span class="skeleton round" />
          <span class="skeleton bar" style={{ width: `${42 + ((index * 17) % 30)}%` }} />
          <span class="skeleton bar" style={{ width: `${78 + ((index * 7) % 20)}%` }} />
          <span class="skeleton bar" style={{ width: `${30 + ((index * 13) % 20)}%` }} />
        </div>
      ))}
    </div>
  );
}
