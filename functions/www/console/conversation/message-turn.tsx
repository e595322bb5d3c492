import { useRef, useState } from "preact/hooks";
import type { Delivery, Entry } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { Popover } from "../../ui/popover";
import { clockTime, formatDuration, fullTime } from "../../ui/time";
import { capitalized, countText } from "../../ui/words";
import { useWorkspace } from "../workspace-context";
import type { OutgoingItem } from "../state/chat/outbox";
import { focusComposer } from "../state/list/view-state";
import { Bubble } from "./bubble";
import { AttemptsPopover } from "./delivery-attempts";
import { failureReason } from "./failure-text";
import { MessageEditor, MessageMenu } from "./message-change";
import type { Turn } from "./timeline-grouping";

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
  const authorName = author.kind === "visitor" ? name : author.kind === "bot" ? `${author.name} (bot)` : author.name;
  const label = isNote
    ? author.kind === "bot"
      ? `${author.name}, for agents only`
      : isMine
        ? "Private note"
        : `Private note of ${authorName}`
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
  const isAnonymous = author.kind === "visitor" && /^Visitor \d+$/.test(name);
  const avatar = (
    <Avatar
      id={author.kind === "agent" ? author.id : (workspace.chats.peek(chatId)?.visitor.number ?? chatId)}
      name={authorName}
      photo={picture}
      isAnonymous={isAnonymous}
      isBot={author.kind === "bot"}
      class="small"
    />
  );
  return (
    <div class={classes} role="group" aria-label={`${isMine ? "You" : authorName}, ${clockTime(at)}`}>
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
  if (editing?.chatId === chatId && editing.seq === entry.seq) return <MessageEditor entry={entry} chatId={chatId} />;
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
      {delivery?.late === true && <span class="hint-line">Delivered late</span>}
      {isFailed && <DeliveryFailure entry={entry} delivery={delivery} chatId={chatId} />}
      {entry.shown === false && <span class="hint-line">The channel cannot show this message to the visitor.</span>}
      {entry.bot_delivery?.state === "failed" && <span class="hint-line">The bot did not accept this message.</span>}
    </>
  );
}

function EditedMark({ at }: { at: number }) {
  return (
    <time class="edited" dateTime={new Date(at * 1000).toISOString()} title={`Edited ${fullTime(at)}`}>
      edited
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
          label="Attempts"
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
      if (delivery.late === true) return "Delivered late";
      return `Delivered${last === undefined ? "" : ` in ${formatDuration(last.ms)}`}`;
    case "superseded":
      return "No longer needed";
    default:
      if (delivery.fetch_until !== undefined) return "Waits until your program fetches it";
      return last === undefined ? "Delivering" : `Delivering, attempt ${delivery.attempts.length + 1}`;
  }
}

function markClass(delivery: Delivery, receipt: Entry["receipt"]): string {
  if (receipt?.read_at !== undefined) return "mark ok read";
  return delivery.state === "delivered" ? "mark ok" : "mark";
}

function receiptText(receipt: NonNullable<Entry["receipt"]>): string {
  return receipt.read_at === undefined
    ? `Reached the visitor at ${clockTime(receipt.delivered_at)}`
    : `Read at ${clockTime(receipt.read_at)}`;
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
          <b>Not delivered{reason === undefined ? "" : ":"}</b>{" "}
          {reason !== undefined && (reason.isQuoted ? <q dir="auto">{reason.text}</q> : reason.text)}
          {delivery.late_until !== undefined && ` (tried again until ${fullTime(delivery.late_until / 1000)})`}
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
            {countText(count, "attempt")}
          </button>
        )}
        <button type="button" class="boxed" onClick={() => void workspace.sentMessages.retry(chatId, entry)}>
          Retry
        </button>
      </span>
      {isOpen && (
        <Popover anchor={link} align="end" class="attempts" label="Attempts" onClose={() => setOpen(false)}>
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
  const label = item.state === "waiting" ? (item.problem ?? "Waiting for the network") : "Sending";
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
              <b>Not sent.</b> {capitalized(item.problem ?? "")}
            </span>
          </span>
          <span class="acts">
            <button type="button" onClick={() => workspace.outbox.discard(item.key)}>
              Discard
            </button>
            {(item.kind === "note" || item.body.type === "text") && (
              <button type="button" onClick={moveToDraft}>
                Edit
              </button>
            )}
            <button type="button" class="boxed" onClick={() => workspace.outbox.retry(item.key)}>
              Try again
            </button>
          </span>
        </div>
      )}
    </>
  );
}
