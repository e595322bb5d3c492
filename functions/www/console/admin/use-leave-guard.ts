import { useLayoutEffect, useRef } from "preact/hooks";
import { guardPage, type LeaveQuestion } from "../state/page/leave-guard";
import { t } from "../../texts/translate";

const UNSAVED_CHANGES: LeaveQuestion = {
  title: t`Discard the changes?`,
  text: t`What you have changed on this page is not saved.`,
  stay: t`Keep editing`,
  leave: t`Discard and leave`,
};

const RUNNING_REQUEST: LeaveQuestion = {
  title: t`Leave before the response?`,
  text: t`What the service responds is shown only once, on this page.`,
  stay: t`Stay here`,
  leave: t`Leave`,
};

/** While `isActive`, asks before the page is left. Returns a function that removes the guard at once. `question` is
 * read when `isActive` becomes true; later changes to it have no effect. */
export function useLeaveGuard(isActive: boolean, question = UNSAVED_CHANGES): () => void {
  const release = useRef(() => {});
  // This must be a layout effect: an ordinary effect runs only after the next frame, when the request to guard may
  // already have been sent.
  useLayoutEffect(() => {
    if (!isActive) return;
    // Copy the question, because guards are told apart by identity, and several forms use the same question.
    const end = guardPage({ ...question });
    release.current = end;
    return end;
  }, [isActive]);
  useUnloadWarning(isActive);
  return () => release.current();
}

/** While a dialog's request runs, asks before the page of the dialog is left. */
export const useRequestGuard = (isBusy: boolean) => useLeaveGuard(isBusy, RUNNING_REQUEST);

/** While `isActive`, asks before the browser leaves or reloads the console. */
export function useUnloadWarning(isActive: boolean): void {
  useLayoutEffect(() => {
    if (!isActive) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isActive]);
}
