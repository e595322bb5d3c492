/* The forms of the assignment of chats and of the time limits of answers, for accounts and departments. */

import { NUMBER_INPUT, SelectField, Switch, TextField } from "../../ui/form-fields";
import {
  newAnswerTimes,
  newAssignment,
  type AnswerTimesDraft,
  type AssignmentDraft,
  type AssignmentMode,
} from "./assignment-draft";
import type { Problems } from "./use-settings-form";
import { t } from "../../texts/translate";

const MODES: readonly { value: AssignmentMode; label: string }[] = [
  { value: "manual", label: t`By hand: who accepts first` },
  { value: "round_robin", label: t`In turn` },
  { value: "least_busy", label: t`The agent with the fewest chats` },
];

interface AssignmentFieldsProps {
  assignment: AssignmentDraft | null;
  label: string;
  help: string;
  /** Whether the form has the capacity, which only accounts have. */
  hasCapacity: boolean;
  problems: Problems;
  onChange: (assignment: AssignmentDraft | null) => void;
}

export function AssignmentFields(props: AssignmentFieldsProps) {
  const { assignment, label, help, hasCapacity, problems, onChange } = props;
  return (
    <>
      <Switch
        label={label}
        help={help}
        isOn={assignment !== null}
        onChange={(isOn) => onChange(isOn ? newAssignment() : null)}
      />
      {assignment !== null && (
        <>
          <SelectField
            id="assignment.mode"
            label={t`Who gets a waiting chat`}
            problem={problems["assignment.mode"]}
            value={assignment.mode}
            options={MODES}
            onChange={(mode) => onChange({ ...assignment, mode })}
          />
          {hasCapacity && (
            <TextField
              id="assignment.capacity"
              label={t`Chats of an agent at a time`}
              help={t`Agents can have a number of their own. Nobody gets more, by assignment or by hand.`}
              problem={problems["assignment.capacity"]}
              value={assignment.capacity}
              onInput={(capacity) => onChange({ ...assignment, capacity })}
              input={NUMBER_INPUT}
            />
          )}
          {assignment.mode !== "manual" && <OfferFields {...props} assignment={assignment} />}
        </>
      )}
    </>
  );
}

function OfferFields({ assignment, problems, onChange }: AssignmentFieldsProps & { assignment: AssignmentDraft }) {
  const { offer_seconds } = assignment;
  return (
    <>
      <Switch
        label={t`Agents accept the chats that they get`}
        help={t`A chat is offered to one agent at a time. Otherwise, the agent has it at once.`}
        isOn={offer_seconds !== undefined}
        onChange={(isOn) =>
          onChange({ ...assignment, offer_seconds: isOn ? newAssignment().offer_seconds : undefined })
        }
      />
      {offer_seconds !== undefined && (
        <TextField
          id="assignment.offer_seconds"
          label={t`Seconds until the next agent`}
          help={t`From 5 to 900.`}
          problem={problems["assignment.offer_seconds"]}
          value={offer_seconds}
          onInput={(typed) => onChange({ ...assignment, offer_seconds: typed })}
          input={NUMBER_INPUT}
        />
      )}
    </>
  );
}

interface AnswerTimesFieldsProps {
  times: AnswerTimesDraft;
  label: string;
  help: string;
  problems: Problems;
  onChange: (times: AnswerTimesDraft) => void;
}

export function AnswerTimesFields({ times, label, help, problems, onChange }: AnswerTimesFieldsProps) {
  const field = (name: keyof NonNullable<AnswerTimesDraft>, fieldLabel: string) =>
    times !== null && (
      <TextField
        id={`answer_times.${name}`}
        label={fieldLabel}
        problem={problems[`answer_times.${name}`]}
        value={times[name]}
        onInput={(typed) => onChange({ ...times, [name]: typed })}
        input={NUMBER_INPUT}
      />
    );
  return (
    <>
      <Switch
        label={label}
        help={help}
        isOn={times !== null}
        onChange={(isOn) => onChange(isOn ? newAnswerTimes() : null)}
      />
      {field("first_answer_seconds", t`Seconds to the first answer (blank: no limit)`)}
      {field("next_answer_seconds", t`Seconds to each next answer (blank: no limit)`)}
    </>
  );
}
