import type { AccountSettings } from "../../api/types";
import { controlAttributes, FieldNotes, SelectField, Switch } from "../../ui/form-fields";
import type { Problems } from "../admin/use-settings-form";
import { offsetText, UTC } from "./settings-draft";
import { t } from "../../texts/translate";

type Callback = AccountSettings["callback"];

const DAYS = [t`Mon`, t`Tue`, t`Wed`, t`Thu`, t`Fri`, t`Sat`, t`Sun`] as const;
const HALF_HOURS = Array.from(
  { length: 49 },
  (_, index) => `${String(Math.floor(index / 2)).padStart(2, "0")}:${index % 2 === 0 ? "00" : "30"}`,
);
/** The UTC offsets of all time zones, in minutes. */
const OFFSETS = [
  ...Array.from({ length: 27 }, (_, index) => (index - 12) * 60),
  -570,
  -210,
  210,
  270,
  330,
  345,
  390,
  525,
  570,
  630,
  765,
].sort((a, b) => a - b);

/** Returns the options including the stored value, which the API may have set to any minute. */
const withStored = <Value extends number | string>(options: readonly Value[], stored: Value) =>
  options.includes(stored) ? options : [...options, stored].sort((a, b) => (a < b ? -1 : 1));

interface CallbackFieldsProps {
  callback: Callback;
  /** The time zone of the account. */
  timeZone: string;
  problems: Problems;
  onChange: (callback: Callback) => void;
}

/** The hours of the week in which visitors may request a call. */
export function CallbackFields({ callback, timeZone, problems, onChange }: CallbackFieldsProps) {
  const { enabled, days, utc_offset: offset } = callback;
  const change = (changes: Partial<Callback>) => onChange({ ...callback, ...changes });
  const toggle = (day: number, isOn: boolean) => {
    const others = days.filter((other) => other !== day);
    change({ days: isOn ? [...others, day].sort((a, b) => a - b) : others });
  };
  const daysAttributes = controlAttributes("callback.days", false, problems["callback.days"]);
  const endsNextDay = callback.to <= callback.from;
  const timeField = (name: "from" | "to", label: string, help?: string) => (
    <SelectField
      id={`callback.${name}`}
      label={label}
      help={help}
      problem={problems[`callback.${name}`]}
      value={callback[name]}
      options={withStored(HALF_HOURS, callback[name]).map((time) => ({ value: time, label: time }))}
      onChange={(time) => change({ [name]: time })}
    />
  );
  return (
    <>
      <Switch
        label={t`Visitors can request a call`}
        help={t`Only within these hours. If they are every day from 00:00 to 24:00, the business hours apply.`}
        isOn={enabled}
        onChange={(enabled) => change({ enabled })}
      />
      {enabled && (
        <>
          <fieldset class="field" aria-describedby={daysAttributes["aria-describedby"]}>
            <legend>{t`Days`}</legend>
            <div class="week">
              {DAYS.map((name, index) => (
                <label key={name} class="day">
                  <input
                    type="checkbox"
                    checked={days.includes(index + 1)}
                    aria-invalid={daysAttributes["aria-invalid"]}
                    onChange={(event) => toggle(index + 1, event.currentTarget.checked)}
                  />
                  <span>{name}</span>
                  <HourBar callback={callback} day={index + 1} />
                </label>
              ))}
            </div>
            <FieldNotes id="callback.days" problem={problems["callback.days"]} />
          </fieldset>
          <div class="two-fields">
            {timeField("from", t`From`)}
            {timeField("to", t`To`, endsNextDay ? t`On the next day.` : undefined)}
          </div>
          {timeZone === UTC ? (
            <SelectField
              id="callback.utc_offset"
              label={t`Offset from UTC`}
              help={t`It applies because the time zone of the account is UTC, and does not follow summer time.`}
              problem={problems["callback.utc_offset"]}
              value={String(offset)}
              options={withStored(OFFSETS, offset).map((minutes) => ({
                value: String(minutes),
                label: offsetText(minutes),
              }))}
              onChange={(minutes) => change({ utc_offset: Number(minutes) })}
            />
          ) : (
            <p class="quiet-text">
              {t`These are local times in ${timeZone.replaceAll("_", " ")}, the time zone of the account.`}
            </p>
          )}
        </>
      )}
    </>
  );
}

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/** The hours of a day. Those in which visitors may request a call are marked. */
function HourBar({ callback: { days, from, to }, day }: { callback: Callback; day: number }) {
  const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const [start, end] = [minutes(from), minutes(to)];
  const isOn = days.includes(day);
  const dayBefore = day === 1 ? 7 : day - 1;
  const isMarked = (hour: number) => {
    const isStarted = hour * 60 + 59 >= start;
    const isBeforeEnd = hour * 60 < end;
    if (end > start) return isOn && isStarted && isBeforeEnd;
    return (isOn && isStarted) || (days.includes(dayBefore) && isBeforeEnd);
  };
  return (
    <span class="hours" aria-hidden="true">
      {HOURS.map((hour) => (
        <i key={hour} class={isMarked(hour) ? "on" : undefined} />
      ))}
    </span>
  );
}
