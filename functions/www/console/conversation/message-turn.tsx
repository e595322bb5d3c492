import { useRef, useState } from "preact/hooks";
import type { Delivery, Entry } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { Popover } from "../../ui/popover";
import { clockTime, formatDuration, fullTime } from "../../ui/time";
import { capitalized } from "../../ui/words";
import { useWorkspace } from "../workspace-context";
import type { OutgoingItem } from "../state/chat/outbox";
import { focusComposer } from "../state/list/view-state";
import { Bubble } from "./bubble";
import { AttemptsPopover } from "./delivery-attempts";
import { failureReason } from "./failure-text";
import { MessageEditor, MessageMenu } from "./message-change";
import type { Turn } from "./timeline-grouping";
import { isAnonymous } from "../state/list/chats";
import { plural, t } from "../../texts/translate";

interface TurnProps {
  turn: Turn;
  chatId: number;
  name: string;
  photo: string | null | undefined;
}

export function TurnView({ turn, chatId, name, photo }: TurnProps) {
  const workspace = useWorkspace();
  const { author, side, isNote, entries, outgoing, at } = turn;
  const isMine = author.kind === "agent" && author.id === workspace.me.id;
  const authorName = author.kind === "visitor" ? name : author.kind === "bot" ? t`${author.name} (bot)` : author.name;
  const label = isNote
    ? author.kind === "bot"
      ? t`${author.name}, for agents only`
      : isMine
        ? t`Private note`
        : t`Private note of ${authorName}`
    : author.kind === "bot" || (author.kind === "agent" && !isMine)
      ? authorName
      : undefined;
  const colleague =
    author.kind === "agent" ? workspace.roster.people.value?.agents.find((agent) => agent.id === author.id) : undefined;
  const picture =
    author.kind === "visitor" ? photo : isMine ? (colleague?.photo ?? workspace.me.photo) : colleague?.photo;
  const isLastFailed = entries.at(-1)?.delivery?.state === "failed" || outgoing.at(-1)?.state === "rejected";
  const classes = ["turn", side, `by-${author.kind}`, isNote ? "is-note" : "", isLastFailed ? "failed" : ""]
    .filter(Boolean)
    .join(" ");
  const visitor = (workspace.chats.peek(chatId) ?? workspace.headers.peek(chatId))?.visitor;
  const avatar = (
    <Avatar
      id={author.kind === "agent" ? author.id : (visitor?.number ?? chatId)}
      name={authorName}
      photo={picture}
      isAnonymous={author.kind === "visitor" && visitor !== undefined && isAnonymous(visitor.name)}
      isBot={author.kind === "bot"}
      class="small"
    />
  );
  return (
    <div class={classes} role="group" aria-label={`${isMine ? t`You` : authorName}, ${clockTime(at)}`}>
      {side === "theirs" && avatar}
      <div class="stack">
        {label !== undefined && (
          <span class="by">
            {isNote && <Icon name="lock" class="small" />}
            <span class="clip" dir="auto">
              {label}
            </span>
          </span>
        )}
        {entries.map((entry) => (
          <EntryLine
            key={workspace.sentMessages.itemKeys.get(entry.id) ?? entry.id}
            entry={entry}
            chatId={chatId}
            isOurs={side === "ours"}
          />
        ))}
        {outgoing.map((item) => (
          <OutgoingLine key={item.key} item={item} />
        ))}
        {!isLastFailed && (
          <span class="foot">
            <time dateTime={new Date(at * 1000).toISOString()} title={fullTime(at)}>
              {clockTime(at)}
            </time>
          </span>
        )}
      </div>
      {side === "ours" && avatar}
    </div>
  );
}

function EntryLine({ entry, chatId, isOurs }: { entry: Entry; chatId: number; isOurs: boolean }) {
  const editing = useWorkspace().messageChanges.editing.value;
  const delivery = entry.delivery;
  const isFailed = delivery?.state === "failed";
  const time = (
    <time class="at" title={fullTime(entry.timestamp)}>
      {clockTime(entry.timestamp)}
    </time>
  );
  if (editing?.chatId === chatId && editing.seq === entry.seq)
    return <MessageEditor entry={entry} chatId={chatId} typed={editing.text} />;
  return (
    <>
      <div class={isFailed ? "line failed" : "line"}>
        {isOurs && <MessageMenu entry={entry} chatId={chatId} />}
        {isOurs && time}
        {isOurs && delivery !== undefined && !isFailed && <DeliveryMark delivery={delivery} receipt={entry.receipt} />}
        <Bubble entry={entry} />
        {entry.edited_at !== undefined && <EditedMark at={entry.edited_at} />}
        {!isOurs && time}
      </div>
      {delivery?.late === true && <span class="hint-line">{t`Delivered late`}</span>}
      {isFailed && <DeliveryFailure entry={entry} delivery={delivery} chatId={chatId} />}
      {entry.shown === false && (
        <span class="hint-line">{t`The channel cannot show this message to the visitor.`}</span>
      )}
      {entry.bot_delivery?.state === "failed" && (
        <span class="hint-line">{t`The bot did not accept this message.`}</span>
      )}
    </>
  );
}

function EditedMark({ at }: { at: number }) {
  return (
    <time class="edited" dateTime={new Date(at * 1000).toISOString()} title={t`Edited ${fullTime(at)}`}>
      {t`edited`}
    </time>
  );
}

function DeliveryMark({ delivery, receipt }: { delivery: Delivery; receipt: Entry["receipt"] }) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const label = receipt === undefined ? deliveryText(delivery) : receiptText(receipt);
  return (
    <>
      <button
        ref={button}
        type="button"
        class={markClass(delivery, receipt)}
        aria-label={label}
        title={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={delivery.state === "delivered" ? "check-check" : delivery.state === "superseded" ? "x" : "clock"} />
      </button>
      {isOpen && (
        <Popover
          anchor={button}
          align="end"
          side="above"
          class="attempts"
          label={t`Attempts`}
          onClose={() => setOpen(false)}
        >
          <AttemptsPopover delivery={delivery} />
        </Popover>
      )}
    </>
  );
}

function deliveryText(delivery: Delivery): string {
  const last = delivery.attempts.at(-1);
  switch (delivery.state) {
    case "delivered":
      if (delivery.late === true) return t`Delivered late`;
      return last === undefined ? t`Delivered` : t`Delivered in ${formatDuration(last.ms)}`;
    case "superseded":
      return t`No longer needed`;
    default:
      if (delivery.fetch_until !== undefined) return t`Waits until your program fetches it`;
      return last === undefined ? t`Delivering` : t`Delivering, attempt ${delivery.attempts.length + 1}`;
  }
}

function markClass(delivery: Delivery, receipt: Entry["receipt"]): string {
  if (receipt?.read_at !== undefined) return "mark ok read";
  return delivery.state === "delivered" ? "mark ok" : "mark";
}

function receiptText(receipt: NonNullable<Entry["receipt"]>): string {
  return receipt.read_at === undefined
    ? t`Reached the visitor at ${clockTime(receipt.delivered_at)}`
    : t`Read at ${clockTime(receipt.read_at)}`;
}

function DeliveryFailure({ entry, delivery, chatId }: { entry: Entry; delivery: Delivery; chatId: number }) {
  const workspace = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const link = useRef<HTMLButtonElement>(null);
  const count = delivery.attempts.length;
  const reason = failureReason(delivery);
  return (
    <div class="fail">
      <span class="words">
        <Icon name="triangle-alert" />
        <span>
          <b>{reason === undefined ? t`Not delivered` : t`Not delivered:`}</b>{" "}
          {reason !== undefined && (reason.isQuoted ? <q dir="auto">{reason.text}</q> : reason.text)}
          {delivery.late_until !== undefined && ` ${t`(tried again until ${fullTime(delivery.late_until / 1000)})`}`}
        </span>
      </span>
      <span class="acts">
        {count > 0 && (
          <button
            ref={link}
            type="button"
            class="attempts-link"
            aria-haspopup="dialog"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {plural(count, "{count} attempt", "{count} attempts")}
          </button>
        )}
        <button type="button" class="boxed" onClick={() => void workspace.sentMessages.retry(chatId, entry)}>
          {t`Retry`}
        </button>
      </span>
      {isOpen && (
        <Popover anchor={link} align="end" class="attempts" label={t`Attempts`} onClose={() => setOpen(false)}>
          <AttemptsPopover delivery={delivery} />
        </Popover>
      )}
    </div>
  );
}

function OutgoingLine({ item }: { item: OutgoingItem }) {
  const workspace = useWorkspace();
  const isRejected = item.state === "rejected";
  const entry: Entry = {
    seq: 0,
    id: item.key,
    from: "agent",
    timestamp: Math.floor(item.createdAt / 1000),
    ...(item.kind === "note"
      ? { type: "note", text: item.body.text }
      : (item.body as Partial<Entry> & { type: Entry["type"] })),
  } as Entry;
  const label = item.state === "waiting" ? (item.problem ?? t`Waiting for the network`) : t`Sending`;
  const moveToDraft = () => {
    const body = item.body;
    const text = "text" in body && typeof body.text === "string" ? body.text : "";
    workspace.outbox.discard(item.key);
    const draft = workspace.drafts.read(item.chatId);
    workspace.drafts.write(
      item.chatId,
      [draft.text, text].filter((part) => part.trim() !== "").join("\n"),
      item.kind === "note",
      item.kind === "message" ? item.actions : draft.actions,
    );
    focusComposer(item.chatId, item.kind === "note" ? "note" : "reply");
  };
  return (
    <>
      <div class={isRejected ? "line failed" : "line sending"}>
        {!isRejected && (
          <span class="mark" role="img" aria-label={label} title={label}>
            <Icon name={item.state === "waiting" ? "wifi-off" : "clock"} />
          </span>
        )}
        <Bubble entry={entry} />
      </div>
      {isRejected && (
        <div class="fail" role="alert">
          <span class="words">
            <Icon name="triangle-alert" />
            <span>
              <b>{t`Not sent.`}</b> {capitalized(item.problem ?? "")}
            </span>
          </span>
          <span class="acts">
            <button type="button" onClick={() => workspace.outbox.discard(item.key)}>
              {t`Discard`}
            </button>
            {(item.kind === "note" || item.body.type === "text") && (
              <button type="button" onClick={moveToDraft}>
                {t`Edit`}
              </button>
            )}
            <button type="button" class="boxed" onClick={() => workspace.outbox.retry(item.key)}>
              {t`Try again`}
            </button>
          </span>
        </div>
      )}
    </>
  );
}
