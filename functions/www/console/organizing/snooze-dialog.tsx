import { useMemo, useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { TextField } from "../../ui/form-fields";
import { LOCALE } from "../../ui/time";
import { fieldValueOf, snoozeTimes, unixSeconds } from "../state/chat/snooze-times";
import { closeOverlay } from "../state/list/view-state";
import { visitorName } from "../state/list/chats";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

const MAX_SNOOZE_DAYS = 90;
const DAY_MS = 86_400_000;

const timeText = (at: Date) =>
  at.toLocaleString(LOCALE, { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

/** Asks until when an own chat is put aside. */
export function SnoozeDialog({ chatId }: { chatId: number }) {
  const { chats, organizing } = useWorkspace();
  const row = chats.row(chatId);
  const now = useMemo(() => new Date(), []);
  const times = useMemo(() => snoozeTimes(now), [now]);
  const snooze = (until: Date | undefined) => {
    closeOverlay();
    void organizing.snooze(chatId, until && unixSeconds(until));
  };
  const isSnoozed = row !== undefined && chats.isSnoozed(row);
  return (
    <Dialog title={row === undefined ? t`Snooze the chat` : t`Snooze ${visitorName(row)}`} onClose={closeOverlay}>
      <div class="body">
        <p class="quiet-text">{t`The chat leaves your list until then, or until the visitor writes.`}</p>
        <div class="snooze-times">
          {times.map(({ label, at }, index) => (
            <button key={label} type="button" data-autofocus={index === 0 || undefined} onClick={() => snooze(at)}>
              {label}
              <time dateTime={at.toISOString()}>{timeText(at)}</time>
            </button>
          ))}
        </div>
        <OwnTime now={now} onChoose={snooze} />
        {isSnoozed && (
          <button type="button" class="btn line" onClick={() => snooze(undefined)}>
            {t`End the snooze now`}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function OwnTime({ now, onChoose }: { now: Date; onChoose: (until: Date) => void }) {
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState<string>();
  const latest = new Date(now.getTime() + MAX_SNOOZE_DAYS * DAY_MS);
  const submit = (event: Event) => {
    event.preventDefault();
    const until = new Date(value);
    if (until.getTime() > Date.now() && until <= latest) onChoose(until);
    else setProblem(t`Choose a time within the next ${MAX_SNOOZE_DAYS} days.`);
  };
  return (
    <form class="own-time" noValidate onSubmit={submit}>
      <TextField
        id="snooze-until"
        label={t`Another time`}
        value={value}
        problem={problem}
        onInput={(text) => {
          setValue(text);
          setProblem(undefined);
        }}
        input={{ type: "datetime-local", min: fieldValueOf(now), max: fieldValueOf(latest) }}
      />
      <button type="submit" class="btn line">
        {t`Snooze`}
      </button>
    </form>
  );
}
