import { useEffect, useRef } from "preact/hooks";
import { guardPage, type LeaveQuestion } from "../state/leave-guard";

const UNSAVED_CHANGES: LeaveQuestion = {
  title: "Discard the changes?",
  text: "What you have changed on this page is not saved.",
  stay: "Keep editing",
  leave: "Discard and leave",
};

const RUNNING_REQUEST: LeaveQuestion = {
  title: "Leave before the response?",
  text: "What the service responds is shown only once, on this page.",
  stay: "Stay here",
  leave: "Leave",
};

/** Asks before the page is left, while `isActive`. Returns a function that ends this at once. The question is that of
 * the first call. */
export function useLeaveGuard(isActive: boolean, question = UNSAVED_CHANGES): () => void {
  const release = useRef(() => {});
  useEffect(() => {
    if (!isActive) return;
    // Forms share a question, but each of them has a guard of its own.
    const end = guardPage({ ...question });
    release.current = end;
    return end;
  }, [isActive]);
  useUnloadWarning(isActive);
  return () => release.current();
}

/** Asks before the page of a dialog is left, while the dialog's request runs. */
export const useRequestGuard = (isBusy: boolean) => useLeaveGuard(isBusy, RUNNING_REQUEST);

/** Asks before the browser leaves or reloads the console, while `isActive`. */
export function useUnloadWarning(isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isActive]);
}
