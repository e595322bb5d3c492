import type { Chat, ChatRow } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { clockTime, currentMinute, dayLabel, localDay } from "../../ui/time";
import { requestClose } from "../chat-actions";
import { isVisitorPaneOpen } from "../state/agent/preferences";
import { openChat } from "../state/page/route";
import { ownedSince } from "../state/chat/timeline";
import { overlay, toggleVisitorPane } from "../state/list/view-state";
import { isAnonymous } from "../state/list/chats";
import { loadedPhoto } from "../visitor/visitor-photo";
import { ChatTags } from "../organizing/tag-label";
import { useWorkspace } from "../workspace-context";
import { ChatMenu } from "./chat-menu";
import { plural, t } from "../../texts/translate";

interface ConversationHeaderProps {
  chatId: number;
  /** Undefined until it is loaded. */
  row: ChatRow | undefined;
  name: string;
}

/** The top of a conversation: who the visitor is, and what the agent can do with the chat. */
export function ConversationHeader({ chatId, row, name }: ConversationHeaderProps) {
  const workspace = useWorkspace();
  const detail = workspace.timelines.open(chatId).chatDetails.value;
  const isMine = row !== undefined && workspace.chats.isMine(row);
  const isCalling = workspace.runningCalls.byChat.value.has(chatId);
  const canTransfer = row?.state === "active" && (isMine || workspace.isAdmin);
  const canClose =
    row !== undefined && row.state !== "closed" && (isMine || row.state !== "active" || workspace.isAdmin);
  return (
    <header>
      <button
        type="button"
        class="btn only-icon back"
        aria-label={t`Back to the inbox`}
        onClick={() => openChat(undefined)}
      >
        <Icon name="chevron-left" class="large" />
      </button>
      <Avatar
        id={row?.visitor.number ?? chatId}
        name={row?.visitor.name ?? ""}
        photo={loadedPhoto(detail?.visitor.photo)}
        isAnonymous={row === undefined || isAnonymous(row.visitor.name)}
      />
      <div class="title">
        <div class="name">
          <h2 class="clip" dir="auto">
            {name}
          </h2>
          <ChatTags tagIds={row?.tag_ids} />
        </div>
        <p class="clip">{row === undefined ? `#${chatId}` : <Subtitle row={row} detail={detail} />}</p>
      </div>
      <span class="grow" />
      <OtherViewers chatId={chatId} />
      {isMine && <CallButton chatId={chatId} isCalling={isCalling} />}
      {canTransfer && (
        <button
          type="button"
          class="btn transfer"
          aria-keyshortcuts="t"
          onClick={() => (overlay.value = { kind: "transfer", chatId })}
        >
          <Icon name="arrow-right-left" />
          {t`Transfer`} <kbd aria-hidden="true">T</kbd>
        </button>
      )}
      {canClose && (
        <button type="button" class="btn line" aria-keyshortcuts="e" onClick={() => requestClose(workspace, chatId)}>
          {t`Close`} <kbd aria-hidden="true">E</kbd>
        </button>
      )}
      <ChatMenu
        chatId={chatId}
        detail={detail}
        canCall={isMine && !isCalling}
        canTransfer={canTransfer}
        isMine={isMine}
      />
      <PaneButton />
    </header>
  );
}

/** The colleagues who have the chat open too, so that two agents do not answer the same visitor. */
function OtherViewers({ chatId }: { chatId: number }) {
  const { viewers, roster } = useWorkspace();
  const others = viewers.others(chatId);
  const people = (roster.people.value?.agents ?? []).filter(({ id }) => others.includes(id));
  if (people.length === 0) return null;
  const names = people.map(({ name }) => name).join(", ");
  const text = plural(people.length, "{names} is looking at this chat", "{names} are looking at this chat", { names });
  return (
    <span class="viewers" role="status" title={text}>
      {people.slice(0, 3).map(({ id, name, photo }) => (
        <Avatar key={id} id={id} name={name} photo={photo} class="small" />
      ))}
      <span class="sr">{text}</span>
    </span>
  );
}

const CallButton = ({ chatId, isCalling }: { chatId: number; isCalling: boolean }) => (
  <button
    type="button"
    class="btn only-icon call"
    aria-label={t`Call the visitor`}
    aria-keyshortcuts="c"
    title={isCalling ? t`A call is in progress` : t`Call the visitor`}
    aria-disabled={isCalling}
    onClick={() => !isCalling && (overlay.value = { kind: "call", chatId })}
  >
    <Icon name={isCalling ? "phone-call" : "phone"} class="large" />
  </button>
);

/** The button that shows or hides the visitor's details. */
function PaneButton() {
  const isShown = isVisitorPaneOpen.value;
  const toggle = () => {
    if (matchMedia("(max-width: 1100px)").matches) toggleVisitorPane();
    else isVisitorPaneOpen.value = !isVisitorPaneOpen.peek();
  };
  return (
    <button
      type="button"
      class="btn only-icon pane-toggle"
      aria-label={t`Visitor details`}
      aria-pressed={undefined}
      aria-expanded={isShown}
      title={t`Visitor details (I)`}
      onClick={toggle}
    >
      <Icon name={isShown ? "panel-right-close" : "panel-right-open"} class="large" />
    </button>
  );
}

function Subtitle({ row, detail }: { row: ChatRow; detail: Chat | undefined }) {
  const { chats, ownership, timelines } = useWorkspace();
  const at = (seconds: number) => {
    const day = dayLabel(seconds, currentMinute.value);
    return localDay(seconds) === localDay(currentMinute.value) ? clockTime(seconds) : `${day}, ${clockTime(seconds)}`;
  };
  const state =
    row.state === "closed"
      ? t`closed ${at(row.updated_at)}`
      : row.state === "waiting"
        ? t`waiting`
        : row.state === "bot"
          ? t`with the bot`
          : chats.isMine(row)
            ? ownership.acceptingChatIds.value.has(row.chat_id)
              ? t`accepting…`
              : t`with you`
            : row.agent
              ? t`with ${row.agent.name}`
              : t`with an agent`;
  const rating =
    detail?.rate === "positive" ? t`rated positive` : detail?.rate === "negative" ? t`rated negative` : undefined;
  const since =
    row.state === "waiting"
      ? chats.waitingSince(row)
      : row.state === "active"
        ? ownedSince(timelines.open(row.chat_id).entries.value)
        : row.state === "bot"
          ? detail?.opened_at
          : undefined;
  const parts: [text: string | undefined, isHiddenOnPhones?: boolean][] = [
    [`#${row.chat_id}`, true],
    [row.channel.name],
    [row.department?.name, true],
    [detail?.visitor.blacklisted ? t`blacklisted` : undefined],
    [rating],
  ];
  return (
    <>
      {parts.map(
        ([text, isHiddenOnPhones]) =>
          text !== undefined && <span class={isHiddenOnPhones ? "wide-only" : undefined}>{text} · </span>,
      )}
      {state}
      {since !== undefined && <span class="wide-only"> {t`since ${at(since)}`}</span>}
    </>
  );
}
