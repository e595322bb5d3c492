import { useLayoutEffect, useState } from "preact/hooks";
import type { ChatRow } from "../../api/types";
import { elapsed, fullTime, now } from "../../ui/time";
import { acceptChat } from "../actions";
import { useWorkspace } from "../context";
import { composerRequest, floating } from "../state/view";
import { Composer } from "./composer";

/** Below the messages: the composer of an own chat, else what can be done with the chat. */
export function Footer({ chatId, row, name }: { chatId: number; row: ChatRow; name: string }) {
  const workspace = useWorkspace();
  const isMine = workspace.chats.isMine(row);
  const [wantsNote, setWantsNote] = useState(
    () => !isMine && workspace.drafts.chats.peek().has(chatId) && workspace.drafts.read(chatId).isNote,
  );
  const request = composerRequest.value;
  const isAsked = request?.chatId === chatId && request.kind === "note";
  useLayoutEffect(() => {
    if (isAsked && !isMine) setWantsNote(true);
  }, [isAsked, isMine]);
  if (isMine) return <Composer key="reply" chatId={chatId} row={row} name={name} startsAsNote={wantsNote} />;
  return (
    <div>
      {wantsNote && (
        <Composer key="note" chatId={chatId} row={row} name={name} isNoteOnly onDone={() => setWantsNote(false)} />
      )}
      <ActionBar row={row} name={name} onNote={wantsNote ? undefined : () => setWantsNote(true)} />
    </div>
  );
}

function ActionBar({ row, name, onNote }: { row: ChatRow; name: string; onNote: (() => void) | undefined }) {
  const workspace = useWorkspace();
  const { chats } = workspace;
  const note = onNote !== undefined && (
    <button type="button" class="btn" onClick={onNote}>
      Add a note
    </button>
  );
  if (row.state === "waiting") {
    return (
      <div class="action-bar waiting">
        <p>
          <b dir="auto">{name}</b> has been waiting for <b class="num">{elapsed(now.value - chats.since(row))}</b>
        </p>
        {note}
        <button
          type="button"
          class="btn primary"
          aria-keyshortcuts="a"
          onClick={() => acceptChat(workspace, row.chat_id)}
        >
          Accept <kbd aria-hidden="true">A</kbd>
        </button>
      </div>
    );
  }
  if (row.state === "bot") {
    return (
      <div class="action-bar">
        <p>A bot is answering. It stops when you take over.</p>
        {note}
        <button
          type="button"
          class="btn primary"
          aria-keyshortcuts="a"
          onClick={() => acceptChat(workspace, row.chat_id)}
        >
          Take over <kbd aria-hidden="true">A</kbd>
        </button>
      </div>
    );
  }
  if (row.state === "active") {
    return (
      <div class="action-bar">
        <p>
          <b dir="auto">{row.agent?.name ?? "Another agent"}</b> is answering this chat.
        </p>
        {note}
        {workspace.isAdmin && (
          <button
            type="button"
            class="btn line"
            onClick={() => (floating.value = { kind: "transfer", chatId: row.chat_id })}
          >
            Transfer…
          </button>
        )}
      </div>
    );
  }
  return (
    <div class="action-bar">
      <p>
        This chat is closed
        {row.agent === null
          ? ""
          : `; ${chats.isMine({ ...row, state: "active" }) ? "you had it" : `${row.agent.name} had it`}`}
        . <span title={fullTime(row.updated_at)}>When the visitor writes again, a new chat begins.</span>
      </p>
      {note}
    </div>
  );
}
