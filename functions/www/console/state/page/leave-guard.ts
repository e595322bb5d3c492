/* Asks for confirmation before the user leaves a page with something that would be lost, such as unsaved changes. */

import { signal } from "@preact/signals";

/** What is asked before the page is left. */
export interface LeaveQuestion {
  title: string;
  text: string;
  /** The label of the button that stays on the page. */
  stay: string;
  /** The label of the button that leaves the page. */
  leave: string;
}

/** One question for each open part of the page that could lose something. The latest question is asked. */
const questions: LeaveQuestion[] = [];

/** The question that is waiting for an answer. Undefined if there is none. */
export const leaveRequest = signal<{ question: LeaveQuestion; leave: () => void } | undefined>(undefined);

/** Asks the question before the page is left, until the returned function is called. */
export function guardPage(question: LeaveQuestion): () => void {
  questions.push(question);
  return () => {
    const at = questions.indexOf(question);
    if (at >= 0) questions.splice(at, 1);
    if (leaveRequest.peek()?.question === question) leaveRequest.value = undefined;
  };
}

export const isPageGuarded = () => questions.length > 0;

/** Calls `leave` at once, or, if the page is guarded, after the user has agreed to leave. */
export function leavePage(leave: () => void): void {
  const question = questions.at(-1);
  if (question === undefined) leave();
  else leaveRequest.value = { question, leave };
}

export function answerLeaveRequest(leaves: boolean): void {
  const request = leaveRequest.peek();
  leaveRequest.value = undefined;
  if (leaves) request?.leave();
}
