/** @jsxImportSource #widget */
/* The call form and the progress of a call. */

import type { Call } from "../service/types";
import type { Texts } from "../texts";
import { Field, onSubmit } from "../view/field";
import type { Child } from "../view/jsx/jsx-runtime";
import type { FormValues } from "../visitor/contact-rules";
import { callMessage, isFinal } from "./call-status";
import type { CallTexts } from "./call-texts";

interface ScreenProps {
  texts: Texts & CallTexts;
  /** The call in progress, or the last one since the form was opened. */
  call: Call | null;
  isUnavailable: boolean;
  isBusy: boolean;
  /** The number with which the form starts. */
  phone: string | null;
  fieldError: string | undefined;
  formError: string | undefined;
  submit: (values: FormValues) => void;
  callAgain: () => void;
  write: () => void;
}

export function CallScreen(props: ScreenProps) {
  const { texts, call, isUnavailable, callAgain, write } = props;
  const writeButton = (
    <button type="button" class="quiet" onClick={write}>
      {texts.callWrite}
    </button>
  );
  if (call)
    return (
      <Progress message={callMessage(call, texts)} isError={call.status === "error"}>
        {call.status === "error" && (
          <button type="button" class="quiet" onClick={callAgain}>
            {texts.callAgain}
          </button>
        )}
        {writeButton}
      </Progress>
    );
  if (isUnavailable)
    return (
      <Progress message={{ title: texts.callUnavailable, hint: texts.callUnavailableHint }} isError>
        {writeButton}
      </Progress>
    );
  return <CallForm {...props}>{writeButton}</CallForm>;
}

function CallForm({
  texts,
  isBusy,
  phone,
  fieldError,
  formError,
  submit,
  children,
}: ScreenProps & { children: Child }) {
  return (
    <form key="call" class="fields" noValidate onSubmit={onSubmit(submit)}>
      <Field name="phone" value={phone} error={fieldError} isRequired texts={texts} />
      {formError && (
        <p class="error" role="alert">
          {formError}
        </p>
      )}
      <button class="main" aria-disabled={isBusy}>
        {isBusy ? texts.callRequesting : texts.callMe}
      </button>
      {children}
    </form>
  );
}

interface ProgressProps {
  message: { title: string; hint: string };
  isError: boolean;
  children: Child;
}

/** The progress of a call. The element stays in place during the call, so that screen readers announce each status. */
const Progress = ({ message: { title, hint }, isError, children }: ProgressProps) => (
  <div key="call-progress" class="success" role="status">
    <span class="tick">
      <PhoneIcon isError={isError} />
    </span>
    <h3>{title}</h3>
    <p>{hint}</p>
    {children}
  </div>
);

/** The button in the window's header that opens the form, or shows the progress of the call. */
export const CallButton = ({ texts, onClick }: { texts: CallTexts; onClick: () => void }) => (
  <button type="button" key="call" class="icon" aria-label={texts.call} onClick={onClick}>
    <PhoneIcon />
  </button>
);

const PhoneIcon = ({ isError = false }) => (
  <svg class={isError ? "error" : ""} viewBox="0 0 24 24" aria-hidden="true">
    <path d="M6.5 4h3l1.5 4.5-2 1.5a12 12 0 0 0 5 5l1.5-2 4.5 1.5v3a2 2 0 0 1-2 2A15.5 15.5 0 0 1 4.5 6a2 2 0 0 1 2-2z" />
  </svg>
);

/** Returns the progress in one line, which is shown while the visitor reads the chat. Empty if no call is in
 * progress. */
export const progressLine = (call: Call | null, texts: CallTexts): string =>
  call && !isFinal(call) ? callMessage(call, texts).title : "";
