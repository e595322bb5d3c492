/* The form of business hours: a week with several intervals a day, and exceptions. */

import { useMemo } from "preact/hooks";
import type { BusinessHours } from "../../api/types";
import { FieldNotes, SelectField, Switch, TextField } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { LOCALE } from "../../ui/time";
import { timeZoneNames } from "../../ui/time-zones";
import {
  intervalsOf,
  newException,
  newHours,
  nextInterval,
  stateText,
  WEEKDAYS,
  withIntervals,
  type DayInterval,
  type HoursDraft,
  type HoursException,
} from "./business-hours-draft";
import type { Problems } from "./use-settings-form";
import { t } from "../../texts/translate";

interface BusinessHoursFieldsProps {
  hours: HoursDraft;
  /** The hours that the service has stored, with their state. */
  stored: BusinessHours | null;
  /** What applies without hours. */
  withoutHours: string;
  /** The time zone of new hours. */
  timeZone?: string;
  problems: Problems;
  onChange: (hours: HoursDraft) => void;
}

export function BusinessHoursFields(props: BusinessHoursFieldsProps) {
  const { hours, stored, withoutHours, problems, onChange } = props;
  const { timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone } = props;
  return (
    <>
      <Switch
        label={t`Business hours`}
        help={withoutHours}
        isOn={hours !== null}
        onChange={(isOn) => onChange(isOn ? newHours(timeZone) : null)}
      />
      {stored !== null && hours !== null && <p role="status">{stateText(stored, timeIn(stored.time_zone))}</p>}
      {hours !== null && (
        <>
          <TimeZoneField hours={hours} problem={problems["business_hours.time_zone"]} onChange={onChange} />
          <Week hours={hours} problem={problems["business_hours.weekly"]} onChange={onChange} />
          <Exceptions
            exceptions={hours.exceptions}
            problem={problems["business_hours.exceptions"]}
            onChange={(exceptions) => onChange({ ...hours, exceptions })}
          />
        </>
      )}
    </>
  );
}

function timeIn(timeZone: string) {
  const format = new Intl.DateTimeFormat(LOCALE, { dateStyle: "full", timeStyle: "short", timeZone });
  return (at: number) => format.format(at * 1000);
}

interface PartProps {
  hours: NonNullable<HoursDraft>;
  problem: string | undefined;
  onChange: (hours: HoursDraft) => void;
}

function TimeZoneField({ hours, problem, onChange }: PartProps) {
  const names = useMemo(() => timeZoneNames(hours.time_zone), [hours.time_zone]);
  return (
    <SelectField
      id="business_hours.time_zone"
      label={t`Time zone of the hours`}
      problem={problem}
      value={hours.time_zone}
      options={names.map((name) => ({ value: name, label: name.replaceAll("_", " ") }))}
      onChange={(time_zone) => onChange({ ...hours, time_zone })}
    />
  );
}

function Week({ hours, problem, onChange }: PartProps) {
  return (
    <fieldset class="field" data-field="business_hours.weekly" aria-describedby="business_hours.weekly-help">
      <legend>{t`Week`}</legend>
      {WEEKDAYS.map((name, index) => (
        <div key={name} class="hours-day" role="group" aria-label={name}>
          <span class="hours-name">{name}</span>
          <Intervals
            intervals={intervalsOf(hours, index + 1)}
            isInvalid={problem?.includes(name) ?? false}
            onChange={(intervals) => onChange(withIntervals(hours, index + 1, intervals))}
          />
        </div>
      ))}
      <FieldNotes
        id="business_hours.weekly"
        problem={problem}
        help={t`An end that is not after the start is on the next day. 24:00 is the end of the day.`}
      />
    </fieldset>
  );
}

interface IntervalsProps {
  intervals: readonly DayInterval[];
  isInvalid: boolean;
  onChange: (intervals: DayInterval[]) => void;
}

/** The intervals of a day, which is closed without any. */
function Intervals({ intervals, isInvalid, onChange }: IntervalsProps) {
  const change = (index: number, changes: Partial<DayInterval>) =>
    onChange(intervals.map((interval, at) => (at === index ? { ...interval, ...changes } : interval)));
  return (
    <span class="hours-intervals">
      {intervals.length === 0 && <span class="quiet-text">{t`Closed`}</span>}
      {intervals.map(({ from, to }, index) => (
        <span key={index} class="hours-interval">
          <TimeInput
            label={t`From ${index + 1}`}
            value={from}
            isInvalid={isInvalid}
            onInput={(from) => change(index, { from })}
          />
          –
          <TimeInput
            label={t`To ${index + 1}`}
            value={to}
            isInvalid={isInvalid}
            onInput={(to) => change(index, { to })}
          />
          <button
            type="button"
            class="btn only-icon"
            aria-label={t`Remove ${from} to ${to}`}
            title={t`Remove`}
            onClick={() => onChange(intervals.filter((_, at) => at !== index))}
          >
            <Icon name="trash-2" />
          </button>
        </span>
      ))}
      <button
        type="button"
        class="btn only-icon"
        aria-label={t`Add hours`}
        title={t`Add hours`}
        onClick={() => onChange([...intervals, nextInterval(intervals)])}
      >
        <Icon name="plus" />
      </button>
    </span>
  );
}

interface TimeInputProps {
  label: string;
  value: string;
  isInvalid: boolean;
  onInput: (value: string) => void;
}

/** A time as text, because a browser's control for times has no 24:00. */
const TimeInput = ({ label, value, isInvalid, onInput }: TimeInputProps) => (
  <input
    class="input"
    aria-label={label}
    aria-invalid={isInvalid}
    autocomplete="off"
    maxLength={5}
    placeholder="09:00"
    dir="ltr"
    value={value}
    onInput={(event) => onInput(event.currentTarget.value.trim())}
  />
);

interface ExceptionsProps {
  exceptions: readonly HoursException[];
  problem: string | undefined;
  onChange: (exceptions: HoursException[]) => void;
}

function Exceptions({ exceptions, problem, onChange }: ExceptionsProps) {
  const replace = (index: number, changes: Partial<HoursException>) =>
    onChange(exceptions.map((exception, at) => (at === index ? { ...exception, ...changes } : exception)));
  return (
    <fieldset class="field" data-field="business_hours.exceptions">
      <legend>{t`Exceptions`}</legend>
      {exceptions.map((exception, index) => (
        <ExceptionFields
          key={index}
          exception={exception}
          index={index}
          isInvalid={problem?.startsWith(`${exception.name}:`) ?? false}
          onChange={(changes) => replace(index, changes)}
          onRemove={() => onChange(exceptions.filter((_, at) => at !== index))}
        />
      ))}
      <div>
        <button
          type="button"
          class="btn line"
          onClick={() => onChange([...exceptions, newException(new Date().toISOString().slice(0, 10))])}
        >
          <Icon name="plus" />
          {t`Add an exception`}
        </button>
      </div>
      <FieldNotes id="business_hours.exceptions" problem={problem} help={t`Holidays, or days with other hours.`} />
    </fieldset>
  );
}

interface ExceptionFieldsProps {
  exception: HoursException;
  index: number;
  isInvalid: boolean;
  onChange: (changes: Partial<HoursException>) => void;
  onRemove: () => void;
}

function ExceptionFields({ exception, index, isInvalid, onChange, onRemove }: ExceptionFieldsProps) {
  const { name, first_day, last_day, hours } = exception;
  const id = `business_hours.exceptions[${index}]`;
  return (
    <div class="hours-exception" role="group" aria-label={name || t`Exception ${index + 1}`}>
      <TextField
        id={`${id}.name`}
        label={t`Name`}
        value={name}
        onInput={(name) => onChange({ name })}
        input={{ maxLength: 100, dir: "auto", placeholder: t`Christmas` }}
      />
      <TextField
        id={`${id}.first_day`}
        label={t`First day`}
        value={first_day}
        onInput={(day) => onChange({ first_day: day, last_day: last_day < day ? day : last_day })}
        input={{ type: "date" }}
      />
      <TextField
        id={`${id}.last_day`}
        label={t`Last day`}
        value={last_day}
        onInput={(last_day) => onChange({ last_day })}
        input={{ type: "date" }}
      />
      <Intervals intervals={hours} isInvalid={isInvalid} onChange={(hours) => onChange({ hours })} />
      <button
        type="button"
        class="btn only-icon"
        aria-label={name === "" ? t`Remove the exception` : t`Remove ${name}`}
        title={t`Remove`}
        onClick={onRemove}
      >
        <Icon name="trash-2" />
      </button>
    </div>
  );
}
