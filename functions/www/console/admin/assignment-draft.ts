/* The assignment of chats and the time limits of answers while an admin edits them. */

import type { AccountSettings, Department } from "../../api/types";
import type { Problems } from "./use-settings-form";
import { language, t } from "../../texts/translate";

type Assignment = NonNullable<AccountSettings["assignment"]>;
type DepartmentAssignment = NonNullable<Department["assignment"]>;
export type AssignmentMode = Assignment["mode"];

/** Numbers as they are typed. Null: chats are accepted by hand, or as in the account. */
export interface AssignmentDraft {
  mode: AssignmentMode;
  capacity: string;
  /** How long a chat is offered to an agent. Undefined: the agent gets it at once. */
  offer_seconds: string | undefined;
}

/** Times in seconds as they are typed. Blank: no limit. Null: as in the account, or none. */
export type AnswerTimesDraft = Record<"first_answer_seconds" | "next_answer_seconds", string> | null;

export const ASSIGNMENT_FIELDS = ["assignment.capacity", "assignment.offer_seconds"];
export const ANSWER_FIELDS = ["answer_times.first_answer_seconds", "answer_times.next_answer_seconds"];
const DEFAULT_CAPACITY = "5";
const DEFAULT_OFFER_SECONDS = "30";

const text = (number: number | null | undefined) =>
  number === null || number === undefined ? undefined : String(number);

export const assignmentDraftOf = (stored: Assignment | DepartmentAssignment | null): AssignmentDraft | null =>
  stored && {
    mode: stored.mode,
    capacity: "capacity" in stored ? String(stored.capacity) : DEFAULT_CAPACITY,
    offer_seconds: text(stored.offer_seconds),
  };

export const newAssignment = (): AssignmentDraft => ({
  mode: "least_busy",
  capacity: DEFAULT_CAPACITY,
  offer_seconds: DEFAULT_OFFER_SECONDS,
});

/** Returns the body of a department's assignment. */
export const departmentAssignmentOf = (draft: AssignmentDraft | null): DepartmentAssignment | null =>
  draft && { mode: draft.mode, offer_seconds: draft.offer_seconds === undefined ? null : Number(draft.offer_seconds) };

/** Returns the body of the account's assignment. */
export const assignmentOf = (draft: AssignmentDraft | null): Assignment | null => {
  const rule = departmentAssignmentOf(draft);
  return draft && rule && { ...rule, capacity: Number(draft.capacity) };
};

export const answerTimesDraftOf = (stored: AccountSettings["answer_times"]): AnswerTimesDraft =>
  stored && {
    first_answer_seconds: text(stored.first_answer_seconds) ?? "",
    next_answer_seconds: text(stored.next_answer_seconds) ?? "",
  };

export const newAnswerTimes = (): NonNullable<AnswerTimesDraft> => ({
  first_answer_seconds: "120",
  next_answer_seconds: "300",
});

export const answerTimesOf = (draft: AnswerTimesDraft): AccountSettings["answer_times"] => {
  const number = (typed: string) => (typed.trim() === "" ? null : Number(typed));
  return (
    draft && {
      first_answer_seconds: number(draft.first_answer_seconds),
      next_answer_seconds: number(draft.next_answer_seconds),
    }
  );
};

/** Returns what is wrong with a number that must be in a range. */
function numberProblem(typed: string, min: number, max: number): string | undefined {
  const number = Number(typed);
  const isValid = /^\d+$/.test(typed.trim()) && number >= min && number <= max;
  return isValid ? undefined : t`Enter a whole number from ${min} to ${max.toLocaleString(language)}.`;
}

function named(problems: Record<string, string | undefined>): Problems {
  const found = Object.entries(problems).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(found);
}

export function assignmentProblems(draft: AssignmentDraft | null): Problems {
  if (draft === null) return {};
  const { capacity, offer_seconds } = draft;
  return named({
    "assignment.capacity": numberProblem(capacity, 1, 1000),
    "assignment.offer_seconds": offer_seconds === undefined ? undefined : numberProblem(offer_seconds, 5, 900),
  });
}

export function answerTimesProblems(draft: AnswerTimesDraft): Problems {
  const problem = (typed: string) => (typed.trim() === "" ? undefined : numberProblem(typed, 10, 604_800));
  return named({
    "answer_times.first_answer_seconds": draft === null ? undefined : problem(draft.first_answer_seconds),
    "answer_times.next_answer_seconds": draft === null ? undefined : problem(draft.next_answer_seconds),
  });
}
