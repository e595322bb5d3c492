/** @jsxImportSource #widget */
/* The messages, with date lines and events, and the contacts form and the rating below them. */

import { isAfter } from "../chat/conversation";
import type { Message } from "../service/types";
import { isAddressNeeded, type Notice, type State } from "../state";
import { fill } from "../texts";
import { ContactsForm, isContactsFormDue } from "./contacts-form";
import type { Props } from "./props";
import { Avatar, personNamed } from "./avatar";
import { day, isSameDay, timeOfDay } from "./dates";
import { ReplyTime } from "./intro";
import { isMedia, Media } from "./media";
import { Rating } from "./rating";
import type { Child } from "./jsx/jsx-runtime";
import { LinkedText, Markdown } from "./rich-text";

const GROUP_GAP_MS = 300_000;
/** The log counts as scrolled to the end if it is at most this far from the end. */
const END_TOLERANCE_PX = 60;
/** Earlier messages are loaded when the log is scrolled to at most this far from its beginning. */
const LOAD_DISTANCE_PX = 200;

/** One line of the log: a message, a notice, an invitation or the greeting. */
interface Line {
  key: string;
  chatId: number | undefined;
  at: number;
  author: string | null;
  isOwn: boolean;
  /** Whether a bot has written it, which the visitor must be able to see whatever the bot is called. */
  isOfBot?: boolean;
  content: Child;
  /** What is known about the delivery of the visitor's message. */
  status?: Child;
}

export function Log({ state, actions }: Props) {
  const lines = linesOf({ state, actions });
  const content = withDates(lines, { state, actions });
  // The contacts form follows the visitor's last message, so that it does not cover the answers below it, or, if nobody
  // is there to answer, the line that says so.
  if (isContactsFormDue(state, "after_first_message")) {
    const place = isAddressNeeded(state) ? lines.length : lines.findLastIndex(({ isOwn }) => isOwn) + 1;
    content.splice(place, 0, <ContactsForm state={state} actions={actions} />);
  }
  return (
    <div
      class="log"
      role="log"
      aria-live={state.earlier === "loading" ? "off" : "polite"}
      aria-label={state.texts.log}
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        if (state.earlier === "more" && currentTarget.scrollTop < LOAD_DISTANCE_PX) actions.loadEarlier();
      }}
    >
      <Earlier state={state} actions={actions} />
      {!state.conversation.isEmpty && <ReplyTime state={state} />}
      {content}
      {state.typingName !== null && <TypingDots name={state.typingName} state={state} actions={actions} />}
      {state.growing && <Growing growing={state.growing} state={state} actions={actions} />}
      {state.conversation.chat?.state === "closed" && <p class="event">{state.texts.closed}</p>}
      {state.screen === "chat" && <Rating state={state} actions={actions} />}
    </div>
  );
}

/** Whether the log is scrolled to its end. */
export const isAtEnd = ({ scrollHeight, scrollTop, clientHeight }: Element): boolean =>
  scrollHeight - scrollTop - clientHeight <= END_TOLERANCE_PX;

export const scrollToEnd = (log: Element | null | undefined): void => log?.scrollTo(0, Number.MAX_SAFE_INTEGER);

/** Runs a function that changes the height of the log. If the log is scrolled to its end, it stays there. */
export function keepEnd(log: Element | null | undefined, resize: () => void): void {
  const wasAtEnd = log && isAtEnd(log);
  resize();
  if (wasAtEnd) scrollToEnd(log);
}
/** Loads the messages before the first one, for visitors who do not scroll. */
const Earlier = ({ state: { earlier, texts }, actions }: Props) =>
  earlier !== "none" && (
    <p key="earlier" class="earlier" role="status">
      {earlier === "failed" && `${texts.earlierFailed} `}
      <button type="button" aria-disabled={earlier === "loading"} onClick={actions.loadEarlier}>
        {earlier === "loading" ? texts.loading : earlier === "failed" ? texts.retry : texts.earlier}
      </button>
    </p>
  );

const TypingDots = ({ name, state, actions }: Props & { name: string }) => (
  <div class="turn team">
    <Avatar person={personNamed(name, state)} state={state} actions={actions} />
    <span class="by">{fill(state.texts.typing, name)}</span>
    <div class="bubble dots" aria-hidden="true">
      <i />
      <i />
      <i />
    </div>
  </div>
);

/** The answer that a bot is writing. Screen readers read the message when it is complete. */
const Growing = ({ growing, state, actions }: Props & { growing: NonNullable<State["growing"]> }) => (
  <div class="turn team" aria-live="off">
    <Avatar person={personNamed(growing.name, state)} state={state} actions={actions} />
    <span class="by">
      <b>{growing.name}</b> {state.texts.machine}
    </span>
    <div class="bubble growing" dir="auto">
      {growing.text}
    </div>
    <button type="button" class="stop" aria-disabled={growing.isStopped} onClick={actions.stopAnswer}>
      {state.texts.stop}
    </button>
  </div>
);

/** Where a line stands that is not a message. */
type Place = Pick<Notice, "at" | "after" | "isServiceTime">;

const isBefore = ({ at, after, isServiceTime }: Place, message: Message): boolean =>
  isServiceTime ? at < message.at : isAfter(message, after);

function linesOf({ state, actions }: Props): Line[] {
  const { conversation, settings, texts, invitation, notices, earlier } = state;
  const { messages, pending } = conversation;
  const teamName = (message: Message) =>
    message.name || (message.from === "bot" ? texts.bot : (conversation.chat?.agent?.name ?? texts.agent));
  const lines: Line[] = [];
  const add = (key: string, at: number, author: string | null, content: Child) =>
    lines.push({ key, chatId: undefined, at, author, isOwn: false, content });

  let others: { key: string; place: Place; author: string | null; content: Child }[] = notices.map((notice) => ({
    key: `n${notice.at}`,
    place: notice,
    author: null,
    content: notice.text,
  }));
  if (invitation)
    others.push({
      key: "invitation",
      place: invitation,
      author: invitation.agent?.name ?? settings.title,
      content: <Bubble text={invitation.text} />,
    });
  /** Adds the other lines that are before a message, or all that are left. */
  const addOthers = (message?: Message) => {
    const due = others.filter(({ place }) => !message || isBefore(place, message));
    others = others.filter((line) => !due.includes(line));
    for (const { key, place, author, content } of due) {
      // What happened before the first message that is loaded belongs to the earlier ones.
      if (place.isServiceTime && lines.length === 0 && earlier !== "none") continue;
      add(key, place.isServiceTime ? place.at : (lines.at(-1)?.at ?? place.at), author, content);
    }
  };
  const lastOwn = messages.findLast(({ from }) => from === "visitor");
  const { lastSeen } = conversation;
  const last = pending.length === 0 ? messages.at(-1) : undefined;
  for (const message of messages) {
    addOthers(message);
    const key = message.message_id ?? `${message.chat_id}.${message.seq}`;
    const isOwn = message.from === "visitor";
    const content = (
      <>
        <MessageBody message={message} state={state} actions={actions} />
        {message.edited_at && <small class="edited">{texts.edited}</small>}
        {message === last && message.buttons && (
          <div class="choices" role="group" aria-label={message.title || message.text || texts.message}>
            {message.buttons.map(({ text, id }) => (
              <button type="button" onClick={() => actions.send(text, id)}>
                {text}
              </button>
            ))}
          </div>
        )}
      </>
    );
    const status =
      message === lastSeen ? <span>{texts.seen}</span> : message === lastOwn && isOwn && <span>{texts.sent}</span>;
    if (message.deleted_at) {
      lines.push({ key, chatId: message.chat_id, at: message.at, author: null, isOwn, content: texts.deleted });
      continue;
    }
    const author = isOwn ? "" : teamName(message);
    const isOfBot = message.from === "bot";
    lines.push({ key, chatId: message.chat_id, at: message.at, author, isOwn, isOfBot, content, status });
  }
  addOthers();
  for (const { messageId, text, at, isFailed } of pending)
    lines.push({
      key: messageId,
      chatId: undefined,
      at,
      author: "",
      isOwn: true,
      content: <Bubble text={text} />,
      status: isFailed ? (
        <span class="failed" role="alert">
          {texts.failed}{" "}
          <button type="button" onClick={() => actions.retry(messageId)}>
            {texts.retry}
          </button>
        </span>
      ) : (
        <span>{texts.sending}</span>
      ),
    });
  if (settings.greeting && !invitation && earlier === "none") {
    lines.unshift({
      key: "greeting",
      chatId: undefined,
      at: lines[0]?.at ?? Date.now(),
      // No agent has written it.
      author: settings.title,
      isOwn: false,
      content: <Bubble text={settings.greeting} />,
    });
  }
  return lines;
}

/** Renders the lines with a date line before each day and each chat. If an author's messages follow each other within
 * `GROUP_GAP_MS`, they are a group: the first shows the picture, the name and the time of an author of the team, and the
 * last shows the time of the visitor. */
function withDates(lines: Line[], { state, actions }: Props): Child[] {
  const { language } = state;
  let chat: number | undefined;
  const placed = lines.map((line, index) => {
    const previous = lines[index - 1];
    const { chatId = chat } = line;
    const isNewDay = !previous || !isSameDay(previous.at, line.at);
    const isNewChat = chat !== undefined && chatId !== chat;
    chat = chatId;
    const isGrouped =
      !isNewDay && !isNewChat && previous.author === line.author && line.at - previous.at < GROUP_GAP_MS;
    return { ...line, isNewDay, isNewChat, isGrouped };
  });
  return placed.map(({ key, at, author, isOwn, isOfBot, content, status, isNewDay, isNewChat, isGrouped }, index) => {
    const time = timeOfDay(at, language);
    const isLast = !placed[index + 1]?.isGrouped;
    return (
      <div key={key} class="line">
        {(isNewDay || isNewChat) && key !== "greeting" && (
          <p class="day">
            {day(at, Date.now(), language)}
            {!isNewDay && `, ${time}`}
          </p>
        )}
        {author === null ? (
          <p class="event">{content}</p>
        ) : (
          <div class={`turn ${isOwn ? "mine" : "team"}${isGrouped ? " grouped" : ""}`}>
            {author !== "" && !isGrouped && (
              <>
                <Avatar person={personNamed(author, state)} state={state} actions={actions} />
                <span class="by">
                  <b>{author}</b> {isOfBot && `${state.texts.machine} · `}
                  <time>{time}</time>
                </span>
              </>
            )}
            {content}
            {isOwn && (status || isLast) && (
              <small>
                {status}
                {status && isLast && " · "}
                {isLast && <time>{time}</time>}
              </small>
            )}
          </div>
        )}
      </div>
    );
  });
}

const Bubble = ({ text }: { text: string }) => (
  <div class="bubble" dir="auto">
    <LinkedText text={text} />
  </div>
);

function MessageBody({ message, state, actions }: Props & { message: Message }) {
  const { type, text, content, title } = message;
  if (isMedia(message))
    return (
      <>
        <Media message={message} state={state} actions={actions} />
        {text && <Bubble text={text} />}
      </>
    );
  if (type === "markdown" && content)
    return (
      <div class="bubble" dir="auto">
        <Markdown text={content} />
      </div>
    );
  return <Bubble text={(type === "buttons" ? title || text : text) || title || ""} />;
}
