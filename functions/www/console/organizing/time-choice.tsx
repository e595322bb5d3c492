import { useMemo, useState } from "preact/hooks";
import { TextField } from "../../ui/form-fields";
import { LOCALE } from "../../ui/time";
import { fieldValueOf, snoozeTimes } from "../state/chat/snooze-times";
import { t } from "../../texts/translate";

const DAY_MS = 86_400_000;

interface TimeChoiceProps {
  /** How many days from now the time can be. */
  maxDays: number;
  /** The caption of the button beside the field for another time. */
  submitLabel: string;
  onChoose: (at: Date) => void;
}

export const timeText = (at: Date) =>
  at.toLocaleString(LOCALE, { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

/** Offers usual times, and a field for another one. */
export function TimeChoice({ maxDays, submitLabel, onChoose }: TimeChoiceProps) {
  const now = useMemo(() => new Date(), []);
  const times = useMemo(() => snoozeTimes(now), [now]);
  return (
    <>
      <div class="snooze-times">
        {times.map(({ label, at }, index) => (
          <button key={label} type="button" data-autofocus={index === 0 || undefined} onClick={() => onChoose(at)}>
            {label}
            <time dateTime={at.toISOString()}>{timeText(at)}</time>
          </button>
        ))}
      </div>
      <OwnTime now={now} maxDays={maxDays} submitLabel={submitLabel} onChoose={onChoose} />
    </>
  );
}

function OwnTime({ now, maxDays, submitLabel, onChoose }: TimeChoiceProps & { now: Date }) {
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState<string>();
  const latest = new Date(now.getTime() + maxDays * DAY_MS);
  const submit = (event: Event) => {
    event.preventDefault();
    const at = new Date(value);
    if (at.getTime() > Date.now() && at <= latest) onChoose(at);
    else setProblem(t`Choose a time within the next ${maxDays} days.`);
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
        {submitLabel}
      </button>
    </form>
  );
}
