import { memo } from "../memo";
import type { ChatRow } from "../../api/types";
import { Face } from "../../ui/face";
import { BLOCKED } from "../../ui/text";
import { ago, elapsed, fullTime, minute, now, spokenElapsed } from "../../ui/time";
import { useWorkspace } from "../context";
import { chatHref } from "../state/route";
import { isAnonymous, nameOf } from "../state/workspace";
import type { Tab } from "../state/chats";

/** A visitor who waits longer than this is shown in red. */
const LATE_SECONDS = 120;

const KINDS: Record<string, string> = {
  photo: "Photo",
  video: "Video",
  audio: "Audio",
  voice: "Voice message",
  sticker: "Sticker",
  document: "File",
  location: "Location",
};

function Waiting({ since }: { since: number }) {
  const seconds = now.value - since;
  return (
    <time class={seconds >= LATE_SECONDS ? "late" : "wait"} title={`Waiting since ${fullTime(since)}`}>
      <span class="sr">Waiting for {spokenElapsed(seconds)}</span>
      <span aria-hidden="true">{elapsed(seconds)}</span>
    </time>
  );
}

function Ago({ at }: { at: number }) {
  return <time title={fullTime(at)}>{ago(at, Math.max(minute.value, at))}</time>;
}

interface RowProps {
  row: ChatRow;
  isSelected: boolean;
  /** Whether Tab comes to this row; arrows go on from there. */
  isTabStop: boolean;
  tab: Tab | "search";
}

export const Row = memo(function Row({ row, isSelected, isTabStop, tab }: RowProps) {
  const { chats, typing, drafts, timelines, me } = useWorkspace();
  const id = row.chat_id;
  const isUnread = chats.isUnread(row);
  const count = chats.unreadCounts.value.get(id) ?? 0;
  const name = nameOf(row);
  const failed = chats.isMine(row)
    ? (timelines.known(id)?.entries.value ?? []).filter((entry) => entry.delivery?.state === "failed").length
    : 0;
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
      <Face id={row.visitor.number} name={row.visitor.name} isAnonymous={isAnonymous(row.visitor.name)} />
      <span class="who clip" dir="auto">
        {name}
      </span>
      {isWaiting || (chats.isMine(row) && chats.awaitsReply(row)) ? (
        isWaiting ? (
          <Waiting since={chats.since(row)} />
        ) : (
          <Ago at={chats.since(row)} />
        )
      ) : (
        <Ago at={row.last_message?.timestamp ?? row.updated_at} />
      )}
      <span class="say" dir="auto">
        {typing.visitors.value.has(id) ? (
          <span class="is-typing">is typing…</span>
        ) : drafts.chats.value.has(id) && !isSelected ? (
          <>
            <span class="draft">Draft: </span>
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
            <span class="sr"> unread</span>
          </b>
        ) : (
          <b class="unread dot">
            <span class="sr">unread</span>
          </b>
        ))}
      <span class="meta">
        {failed > 0 && <span class="chip bad">{failed} not delivered</span>}
        <span class="chip">{row.channel.name}</span>
        {row.department !== null && <span class="chip">{row.department.name}</span>}
        {row.state === "bot" && tab !== "bot" && <span class="chip bot">Bot</span>}
        {owner !== undefined && <span class="chip">{owner}</span>}
        {tab === "search" && row.state === "closed" && <span class="chip">Closed</span>}
      </span>
    </a>
  );
});

function LastWords({ row }: { row: ChatRow }) {
  const { me } = useWorkspace();
  const last = row.last_message;
  if (last === null) return <span class="by">No messages yet</span>;
  const kind = KINDS[last.type];
  const text = last.text === BLOCKED ? "link blocked" : last.text;
  const words = kind === undefined ? text : text === "" ? kind : `${kind}: ${text}`;
  const by =
    last.from === "bot"
      ? "Bot: "
      : last.from === "agent"
        ? row.agent === null || row.agent.id === me.id
          ? "You: "
          : `${row.agent.name.split(" ")[0]}: `
        : undefined;
  return (
    <>
      {by !== undefined && <span class="by">{by}</span>}
      {words}
    </>
  );
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
