import "./conversation.css";
import { useRef, useState } from "preact/hooks";
import { isStatus } from "../../api/client";
import type { Chat, ChatRow } from "../../api/types";
import { copyText } from "../../ui/copy";
import { Face } from "../../ui/face";
import { Icon } from "../../ui/icons";
import { Popover } from "../../ui/popover";
import { clockTime, dayLabel, minute } from "../../ui/time";
import { toast } from "../../ui/toast";
import { useWorkspace } from "../context";
import { isVisitorPaneOpen } from "../state/preferences";
import { chatHref, openChat } from "../state/route";
import { askComposer, floating, isVisitorShown } from "../state/view";
import { isAnonymous, nameOf, rowOf, wordsOf } from "../state/workspace";
import { requestClose } from "../actions";
import { Footer } from "./footer";
import { Log } from "./log";

/** The chat's header as the lists and the timeline know it. */
export function useRow(chatId: number): ChatRow | undefined {
  const { chats, timelines } = useWorkspace();
  const detail = timelines.of(chatId).detail.value;
  return chats.row(chatId) ?? (detail ? rowOf(detail) : undefined);
}

export function Conversation({ chatId }: { chatId: number | undefined }) {
  if (chatId === undefined) return <NothingOpen />;
  return <OpenChat chatId={chatId} />;
}

function NothingOpen() {
  const { chats } = useWorkspace();
  const waiting = chats.waiting.value;
  const [first] = waiting;
  return (
    <section class="talk" aria-label="Conversation">
      <div class="blank">
        <Icon name="messages-square" />
        <h2>
          {waiting.length > 0
            ? `${waiting.length} ${waiting.length === 1 ? "visitor is" : "visitors are"} waiting`
            : "No chat is open"}
        </h2>
        <p>
          Open one from the list, or press <kbd>j</kbd>. <kbd>?</kbd> shows all keys.
        </p>
        {first !== undefined && (
          <button type="button" class="btn primary" onClick={() => openChat(first.chat_id)}>
            Open {nameOf(first)}
          </button>
        )}
      </div>
    </section>
  );
}

function OpenChat({ chatId }: { chatId: number }) {
  const workspace = useWorkspace();
  const timeline = workspace.timeline(chatId);
  const row = useRow(chatId);
  const progress = timeline.progress.value;
  const name = row === undefined ? `Chat ${chatId}` : nameOf(row);

  if (progress === "failed") {
    const problem = timeline.problem.value;
    const isGone = isStatus(problem, 404);
    const isForbidden = isStatus(problem, 403);
    return (
      <section class="talk" aria-label="Conversation">
        <div class="blank bad" role="alert">
          <Icon name={isForbidden ? "lock" : isGone ? "message-square" : "wifi-off"} />
          <h2>
            {isForbidden
              ? "This chat is with other agents"
              : isGone
                ? "This chat does not exist"
                : "The chat cannot be read"}
          </h2>
          <p>
            {isForbidden
              ? "It belongs to a channel or a department that you do not receive. An admin can change that."
              : isGone
                ? "It was erased, or kept for as long as the account keeps chats."
                : wordsOf(problem)}
          </p>
          {isGone || isForbidden ? (
            <button type="button" class="btn line" onClick={() => openChat(undefined)}>
              Back to the inbox
            </button>
          ) : (
            <button type="button" class="btn line" onClick={() => void workspace.openTimeline(chatId)}>
              Try again
            </button>
          )}
        </div>
      </section>
    );
  }

  return (
    <section class="talk" aria-label={`Conversation with ${name}`}>
      <Head chatId={chatId} row={row} name={name} />
      <Log key={chatId} chatId={chatId} name={name} />
      {row === undefined ? <div /> : <Footer chatId={chatId} row={row} name={name} />}
    </section>
  );
}

function Head({ chatId, row, name }: { chatId: number; row: ChatRow | undefined; name: string }) {
  const workspace = useWorkspace();
  const detail = workspace.timeline(chatId).detail.value;
  const [isMenuOpen, setMenuOpen] = useState(false);
  const more = useRef<HTMLButtonElement>(null);
  const isMine = row !== undefined && workspace.chats.isMine(row);
  const mayTransfer = row?.state === "active" && (isMine || workspace.isAdmin);
  const mayClose =
    row !== undefined && row.state !== "closed" && (isMine || row.state !== "active" || workspace.isAdmin);
  const isPaneShown = isVisitorPaneOpen.value;
  const choose = (act: () => void) => () => {
    setMenuOpen(false);
    act();
  };
  const togglePane = () => {
    if (matchMedia("(max-width: 1100px)").matches) isVisitorShown.value = !isVisitorShown.peek();
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
      <Face
        id={row?.visitor.number ?? chatId}
        name={row?.visitor.name ?? ""}
        photo={detail?.visitor.photo}
        isAnonymous={row === undefined || isAnonymous(row.visitor.name)}
      />
      <div class="title">
        <h2 class="clip" dir="auto">
          {name}
        </h2>
        <p class="clip">{row === undefined ? `#${chatId}` : <Subtitle row={row} detail={detail} />}</p>
      </div>
      <span class="grow" />
      {mayTransfer && (
        <button
          type="button"
          class="btn transfer"
          aria-keyshortcuts="t"
          onClick={() => (floating.value = { kind: "transfer", chatId })}
        >
          <Icon name="arrow-right-left" />
          Transfer <kbd aria-hidden="true">T</kbd>
        </button>
      )}
      {mayClose && (
        <button type="button" class="btn line" aria-keyshortcuts="e" onClick={() => requestClose(workspace, chatId)}>
          Close <kbd aria-hidden="true">E</kbd>
        </button>
      )}
      <button
        ref={more}
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
        <Popover anchor={more} align="end" role="menu" label="More" onClose={() => setMenuOpen(false)}>
          <button type="button" class="menu-item" role="menuitem" onClick={choose(() => askComposer(chatId, "note"))}>
            <Icon name="sticky-note" />
            Add a private note <kbd>N</kbd>
          </button>
          {mayTransfer && (
            <button
              type="button"
              class="menu-item"
              role="menuitem"
              onClick={choose(() => (floating.value = { kind: "transfer", chatId }))}
            >
              <Icon name="arrow-right-left" />
              Transfer… <kbd>T</kbd>
            </button>
          )}
          <button
            type="button"
            class="menu-item"
            role="menuitem"
            onClick={choose(() => {
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
              onClick={choose(
                () => void setBlacklisted(workspace, chatId, detail.visitor.number, !detail.visitor.blacklisted),
              )}
            >
              <Icon name="ban" />
              {detail.visitor.blacklisted ? "Take off the blacklist" : "Blacklist the visitor"}
            </button>
          )}
          {workspace.isAdmin && detail !== undefined && (
            <>
              <div class="menu-line" />
              <button
                type="button"
                class="menu-item bad"
                role="menuitem"
                onClick={choose(
                  () => (floating.value = { kind: "erase", chatId, number: detail.visitor.number, name }),
                )}
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

export async function setBlacklisted(
  workspace: ReturnType<typeof useWorkspace>,
  chatId: number,
  number: number,
  blacklisted: boolean,
): Promise<void> {
  try {
    await workspace.changeVisitor(chatId, number, { blacklisted });
    const undo = { label: "Undo", run: () => void setBlacklisted(workspace, chatId, number, !blacklisted) };
    toast(blacklisted ? "Blacklisted: further messages of this visitor are dropped." : "This visitor is heard again.", {
      action: undo,
    });
  } catch (error) {
    toast(`The blacklist is not changed. ${wordsOf(error)}`, { isBad: true });
  }
}

function Subtitle({ row, detail }: { row: ChatRow; detail: Chat | undefined }) {
  const { chats, accepting, timelines } = useWorkspace();
  const accepted = timelines
    .of(row.chat_id)
    .entries.value.findLast((entry) => entry.type === "chat_accepted" || entry.type === "agent_joined");
  const at = (seconds: number) => {
    const day = dayLabel(seconds, minute.value);
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
            ? accepting.value.has(row.chat_id)
              ? "accepting…"
              : "with you"
            : `with ${row.agent?.name ?? "an agent"}`;
  const rate = detail?.rate === "positive" ? "rated good" : detail?.rate === "negative" ? "rated bad" : undefined;
  const since =
    row.state === "waiting"
      ? chats.since(row)
      : row.state === "active"
        ? accepted?.timestamp
        : row.state === "bot"
          ? detail?.opened_at
          : undefined;
  const opened = since === undefined ? undefined : `since ${at(since)}`;
  return (
    <>
      {[`#${row.chat_id}`, row.channel.name, row.department?.name, [state, opened].filter(Boolean).join(" "), rate]
        .filter(Boolean)
        .join(" · ")}
    </>
  );
}
