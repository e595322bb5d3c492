import { useLayoutEffect, useState } from "preact/hooks";
import type { ChatRow } from "../../api/types";
import { formatElapsed, fullTime, currentSecond } from "../../ui/time";
import { acceptChat } from "../chat-actions";
import { useWorkspace } from "../workspace-context";
import { currentOffer } from "../organizing/assignment-chips";
import { composerFocusRequest, overlay } from "../state/list/view-state";
import { Composer } from "./composer";
import { rich, t } from "../../texts/translate";
import { lazyComponent } from "../../ui/lazy-component";

/** Loaded when a chat has planned messages. */
const PlannedList = lazyComponent<{ chatId: number }>(() =>
  import("./planned-list").then(({ PlannedList }) => PlannedList),
);

/** The area below the messages: the composer if the agent owns the chat, otherwise the available actions. */
export function ConversationFooter({ chatId, row, name }: { chatId: number; row: ChatRow; name: string }) {
  const workspace = useWorkspace();
  const isMine = workspace.chats.isMine(row);
  const hasPlanned = (workspace.timelines.open(chatId).chatDetails.value?.planned?.length ?? 0) > 0;
  const [isNoteComposerOpen, setNoteComposerOpen] = useState(
    () => !isMine && workspace.drafts.chatIds.peek().has(chatId) && workspace.drafts.read(chatId).isNote,
  );
  const request = composerFocusRequest.value;
  const isNoteRequested = request?.chatId === chatId && request.kind === "note";
  useLayoutEffect(() => {
    if (isNoteRequested && !isMine) setNoteComposerOpen(true);
  }, [isNoteRequested, isMine]);
  if (isMine) {
    return (
      <div>
        {hasPlanned && <PlannedList chatId={chatId} />}
        <Composer key="reply" chatId={chatId} row={row} name={name} startsAsNote={isNoteComposerOpen} />
      </div>
    );
  }
  return (
    <div>
      {hasPlanned && <PlannedList chatId={chatId} />}
      {isNoteComposerOpen && (
        <Composer
          key="note"
          chatId={chatId}
          row={row}
          name={name}
          isNoteOnly
          onDone={() => setNoteComposerOpen(false)}
        />
      )}
      <ActionBar row={row} name={name} onNote={isNoteComposerOpen ? undefined : () => setNoteComposerOpen(true)} />
    </div>
  );
}

function ActionBar({ row, name, onNote }: { row: ChatRow; name: string; onNote: (() => void) | undefined }) {
  const workspace = useWorkspace();
  const { chats } = workspace;
  const note = onNote !== undefined && (
    <button type="button" class="btn" onClick={onNote}>
      {t`Add a note`}
    </button>
  );
  const acceptButton = (caption: string) => (
    <button type="button" class="btn primary" aria-keyshortcuts="a" onClick={() => acceptChat(workspace, row.chat_id)}>
      {caption} <kbd aria-hidden="true">A</kbd>
    </button>
  );
  const offer = row.state === "waiting" ? currentOffer(row, currentSecond.value) : undefined;
  if (offer !== undefined && offer.agent_id !== workspace.me.id) {
    return (
      <div class="action-bar waiting">
        <p>{t`Another agent can accept this chat first, for ${formatElapsed(offer.until - currentSecond.value)}.`}</p>
        {note}
      </div>
    );
  }
  if (row.state === "waiting") {
    return (
      <div class="action-bar waiting">
        <p>
          {rich`${(<b dir="auto">{name}</b>)} has been waiting for ${(<b class="num">{formatElapsed(currentSecond.value - chats.waitingSince(row))}</b>)}`}
        </p>
        {note}
        {offer !== undefined && (
          <button type="button" class="btn" onClick={() => void workspace.ownership.decline(row.chat_id)}>
            {t`Decline`} <span class="num">{formatElapsed(offer.until - currentSecond.value)}</span>
          </button>
        )}
        {acceptButton(t`Accept`)}
      </div>
    );
  }
  if (row.state === "bot") {
    return (
      <div class="action-bar">
        <p>{t`A bot is answering. It stops when you take over.`}</p>
        {note}
        {acceptButton(t`Take over`)}
      </div>
    );
  }
  if (row.state === "active") {
    return (
      <div class="action-bar">
        <p>{rich`${(<b dir="auto">{row.agent?.name ?? t`Another agent`}</b>)} is answering this chat.`}</p>
        {note}
        {workspace.isAdmin && (
          <button
            type="button"
            class="btn line"
            onClick={() => (overlay.value = { kind: "transfer", chatId: row.chat_id })}
          >
            {t`Transfer…`}
          </button>
        )}
      </div>
    );
  }
  return (
    <div class="action-bar">
      <p>
        {row.agent === null
          ? t`This chat is closed.`
          : chats.isMine({ ...row, state: "active" })
            ? t`This chat is closed; you were the agent.`
            : t`This chat is closed; the agent was ${row.agent.name}.`}{" "}
        <span title={fullTime(row.updated_at)}>{t`A new message from the visitor starts a new chat.`}</span>
      </p>
      {note}
    </div>
  );
}
