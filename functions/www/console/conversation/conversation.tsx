import "./conversation.css";
import { useRef, useState } from "preact/hooks";
import { hasStatus } from "../../api/client";
import type { Chat, ChatRow } from "../../api/types";
import { copyText } from "../../ui/copy-button";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { Popover } from "../../ui/popover";
import { clockTime, dayLabel, currentMinute } from "../../ui/time";
import { toast } from "../../ui/toast";
import { useWorkspace } from "../workspace-context";
import { usePageTitle } from "../state/page-title";
import { isVisitorPaneOpen } from "../state/preferences";
import { erasureRoute } from "../state/page-routes";
import { chatHref, navigate, openChat } from "../state/route";
import { focusComposer, overlay, toggleVisitorPane } from "../state/view-state";
import { ownedSince } from "../state/timeline";
import { rowFromDetails } from "../state/chat-headers";
import { errorText } from "../state/error-text";
import { isAnonymous, visitorName } from "../state/visitor-name";
import { requestClose, setBlacklisted } from "../chat-actions";
import { loadedPhoto } from "../visitor/visitor-photo";
import { ConversationFooter } from "./footer";
import { MessageLog } from "./message-log";

/** Returns the chat's row from the chat lists. If no list contains the chat, builds the row from the chat's details.
 * Returns undefined if those are not loaded yet either. */
export function useChatRow(chatId: number): ChatRow | undefined {
  const { chats, timelines } = useWorkspace();
  const detail = timelines.open(chatId).chatDetails.value;
  return chats.row(chatId) ?? (detail ? rowFromDetails(detail) : undefined);
}

export function Conversation({ chatId }: { chatId: number | undefined }) {
  if (chatId === undefined) return <NoOpenChat />;
  return <OpenChat chatId={chatId} />;
}

function NoOpenChat() {
  const { chats } = useWorkspace();
  const waiting = chats.waiting.value;
  const [longestWaiting] = waiting;
  return (
    <section class="conversation" aria-label="Conversation">
      <div class="blank">
        <Icon name="messages-square" />
        <h2>
          {waiting.length > 0
            ? `${waiting.length} ${waiting.length === 1 ? "visitor is" : "visitors are"} waiting`
            : "No chat is open"}
        </h2>
        <p>
          Open one from the list, or press <kbd>j</kbd>. <kbd>?</kbd> shows all shortcuts.
        </p>
        {longestWaiting !== undefined && (
          <button type="button" class="btn primary" onClick={() => openChat(longestWaiting.chat_id)}>
            Open {visitorName(longestWaiting)}
          </button>
        )}
      </div>
    </section>
  );
}

function OpenChat({ chatId }: { chatId: number }) {
  const workspace = useWorkspace();
  const timeline = workspace.timelines.open(chatId);
  const row = useChatRow(chatId);
  const loadState = timeline.loadState.value;
  const name = row === undefined ? `Chat ${chatId}` : visitorName(row);
  usePageTitle(name);

  if (loadState === "failed") {
    const problem = timeline.problem.value;
    const isNotFound = hasStatus(problem, 404);
    const isForbidden = hasStatus(problem, 403);
    const wasTakenAway = timeline.wasTakenAway.value;
    return (
      <section class="conversation" aria-label="Conversation">
        <div class="blank bad" role="alert">
          <Icon name={isForbidden ? "lock" : isNotFound ? "message-square" : "wifi-off"} />
          <h2>
            {isForbidden
              ? "You cannot see this chat"
              : isNotFound
                ? wasTakenAway
                  ? "This chat was erased"
                  : "This chat does not exist"
                : "The chat cannot be loaded"}
          </h2>
          <p>
            {isForbidden
              ? "It belongs to a channel or a department that is not assigned to you. An admin can change that."
              : isNotFound && wasTakenAway
                ? "Its messages and what was known about the visitor are gone for good."
                : isNotFound
                  ? "It was erased, or it is older than the account's retention."
                  : errorText(problem)}
          </p>
          {!isNotFound && !isForbidden && (
            <button type="button" class="btn line" onClick={() => void workspace.reading.openTimeline(chatId)}>
              Try again
            </button>
          )}
          <button type="button" class="btn line" onClick={() => openChat(undefined)}>
            Back to the inbox
          </button>
        </div>
      </section>
    );
  }

  return (
    <section class="conversation" aria-label={`Conversation with ${name}`}>
      <ConversationHeader chatId={chatId} row={row} name={name} />
      <MessageLog key={chatId} chatId={chatId} name={name} />
      {row === undefined ? <div /> : <ConversationFooter chatId={chatId} row={row} name={name} />}
    </section>
  );
}

function ConversationHeader({ chatId, row, name }: { chatId: number; row: ChatRow | undefined; name: string }) {
  const workspace = useWorkspace();
  const detail = workspace.timelines.open(chatId).chatDetails.value;
  const [isMenuOpen, setMenuOpen] = useState(false);
  const menuButton = useRef<HTMLButtonElement>(null);
  const isMine = row !== undefined && workspace.chats.isMine(row);
  const isCalling = workspace.runningCalls.byChat.value.has(chatId);
  const canTransfer = row?.state === "active" && (isMine || workspace.isAdmin);
  const canClose =
    row !== undefined && row.state !== "closed" && (isMine || row.state !== "active" || workspace.isAdmin);
  const isPaneShown = isVisitorPaneOpen.value;
  const menuAction = (action: () => void) => () => {
    setMenuOpen(false);
    action();
  };
  const togglePane = () => {
    if (matchMedia("(max-width: 1100px)").matches) toggleVisitorPane();
    else isVisitorPaneOpen.value = !isVisitorPaneOpen.peek();
  };
  return (
    <header>
      <button
        type="button"
        class="btn only-icon back"
        aria-label="Back to the inbox"
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
        <h2 class="clip" dir="auto">
          {name}
        </h2>
        <p class="clip">{row === undefined ? `#${chatId}` : <Subtitle row={row} detail={detail} />}</p>
      </div>
      <span class="grow" />
      {isMine && (
        <button
          type="button"
          class="btn only-icon call"
          aria-label="Call the visitor"
          aria-keyshortcuts="c"
          title={isCalling ? "A call is in progress" : "Call the visitor"}
          aria-disabled={isCalling}
          onClick={() => !isCalling && (overlay.value = { kind: "call", chatId })}
        >
          <Icon name={isCalling ? "phone-call" : "phone"} class="large" />
        </button>
      )}
      {canTransfer && (
        <button
          type="button"
          class="btn transfer"
          aria-keyshortcuts="t"
          onClick={() => (overlay.value = { kind: "transfer", chatId })}
        >
          <Icon name="arrow-right-left" />
          Transfer <kbd aria-hidden="true">T</kbd>
        </button>
      )}
      {canClose && (
        <button type="button" class="btn line" aria-keyshortcuts="e" onClick={() => requestClose(workspace, chatId)}>
          Close <kbd aria-hidden="true">E</kbd>
        </button>
      )}
      <button
        ref={menuButton}
        type="button"
        class="btn only-icon"
        aria-label="More"
        aria-haspopup="menu"
        aria-expanded={isMenuOpen}
        onClick={() => setMenuOpen(!isMenuOpen)}
      >
        <Icon name="ellipsis" class="large" />
      </button>
      <button
        type="button"
        class="btn only-icon pane-toggle"
        aria-label="Visitor details"
        aria-pressed={undefined}
        aria-expanded={isPaneShown}
        title="Visitor details (I)"
        onClick={togglePane}
      >
        <Icon name={isPaneShown ? "panel-right-close" : "panel-right-open"} class="large" />
      </button>
      {isMenuOpen && (
        <Popover anchor={menuButton} align="end" role="menu" label="More" onClose={() => setMenuOpen(false)}>
          <button
            type="button"
            class="menu-item"
            role="menuitem"
            onClick={menuAction(() => focusComposer(chatId, "note"))}
          >
            <Icon name="sticky-note" />
            Add a private note <kbd>N</kbd>
          </button>
          {isMine && !isCalling && (
            <button
              type="button"
              class="menu-item"
              role="menuitem"
              onClick={menuAction(() => (overlay.value = { kind: "call", chatId }))}
            >
              <Icon name="phone" />
              Call the visitor… <kbd>C</kbd>
            </button>
          )}
          {canTransfer && (
            <button
              type="button"
              class="menu-item"
              role="menuitem"
              onClick={menuAction(() => (overlay.value = { kind: "transfer", chatId }))}
            >
              <Icon name="arrow-right-left" />
              Transfer… <kbd>T</kbd>
            </button>
          )}
          <button
            type="button"
            class="menu-item"
            role="menuitem"
            onClick={menuAction(() => {
              const address = new URL(chatHref(chatId), location.href).href;
              void copyText(address).then((isCopied) => isCopied && toast("Link to this chat copied."));
            })}
          >
            <Icon name="link" />
            Copy a link to this chat
          </button>
          {detail !== undefined && (
            <button
              type="button"
              class="menu-item"
              role="menuitem"
              onClick={menuAction(
                () => void setBlacklisted(workspace, chatId, detail.visitor.number, !detail.visitor.blacklisted),
              )}
            >
              <Icon name="ban" />
              {detail.visitor.blacklisted ? "Remove from the blacklist" : "Blacklist the visitor"}
            </button>
          )}
          {workspace.isAdmin && detail !== undefined && (
            <>
              <button
                type="button"
                class="menu-item"
                role="menuitem"
                onClick={menuAction(() => (overlay.value = { kind: "export", chatId }))}
              >
                <Icon name="download" />
                Export the chat…
              </button>
              <div class="menu-line" />
              <button
                type="button"
                class="menu-item bad"
                role="menuitem"
                onClick={menuAction(() => navigate(erasureRoute(detail.visitor.number)))}
              >
                <Icon name="trash-2" />
                Erase the visitor…
              </button>
            </>
          )}
        </Popover>
      )}
    </header>
  );
}

function Subtitle({ row, detail }: { row: ChatRow; detail: Chat | undefined }) {
  const { chats, ownership, timelines } = useWorkspace();
  const at = (seconds: number) => {
    const day = dayLabel(seconds, currentMinute.value);
    return day === "Today" ? clockTime(seconds) : `${day}, ${clockTime(seconds)}`;
  };
  const state =
    row.state === "closed"
      ? `closed ${at(row.updated_at)}`
      : row.state === "waiting"
        ? "waiting"
        : row.state === "bot"
          ? "with the bot"
          : chats.isMine(row)
            ? ownership.acceptingChatIds.value.has(row.chat_id)
              ? "accepting…"
              : "with you"
            : `with ${row.agent?.name ?? "an agent"}`;
  const rating =
    detail?.rate === "positive" ? "rated positive" : detail?.rate === "negative" ? "rated negative" : undefined;
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
    [detail?.visitor.blacklisted ? "blacklisted" : undefined],
    [rating],
  ];
  return (
    <>
      {parts.map(
        ([text, isHiddenOnPhones]) =>
          text !== undefined && <span class={isHiddenOnPhones ? "wide-only" : undefined}>{text} · </span>,
      )}
      {state}
      {since !== undefined && <span class="wide-only"> since {at(since)}</span>}
    </>
  );
}
