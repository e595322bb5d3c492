/* A test of a receiver: a request with sample data, and the response. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ReceiverTestResult } from "../../api/types";
import { Icon } from "../../ui/icons";
import { formatDuration } from "../../ui/time";
import { errorText } from "../state/page/error-text";
import { FormProblem } from "./detail-header";
import { Exchange } from "./exchange";
import { t } from "../../texts/translate";

interface ReceiverTestProps {
  /** What the button says, such as "Send the event". */
  label: string;
  /** What is sent, such as "chat_accepted". */
  what: string;
  send: () => Promise<ReceiverTestResult>;
  /** Buttons beside that of the test. */
  children?: ComponentChildren;
}

/** A button that sends a sample request and shows the result. */
export function ReceiverTest({ label, what, send, children }: ReceiverTestProps) {
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<ReceiverTestResult & { what: string }>();
  const [problem, setProblem] = useState<string>();
  const test = async () => {
    if (isBusy) return;
    setBusy(true);
    setResult(undefined);
    setProblem(undefined);
    try {
      setResult({ what, ...(await send()) });
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div class="test-buttons">
        <button type="button" class="btn line" aria-disabled={isBusy} onClick={() => void test()}>
          <Icon name="send-horizontal" />
          {isBusy ? t`Sending…` : label}
        </button>
        {children}
      </div>
      <div role="status">{result !== undefined && <TestResult {...result} />}</div>
      <FormProblem text={problem} />
    </>
  );
}

function TestResult({ what, status, ms, error, request, response }: ReceiverTestResult & { what: string }) {
  return (
    <div class="exchange">
      <dl class={error === null ? "facts result good" : "facts result bad"}>
        <dt>{t`Sent`}</dt>
        <dd>
          <code>{what}</code>
        </dd>
        <dt>{t`Response`}</dt>
        <dd>
          <Icon name={error === null ? "circle-check" : "circle-alert"} />
          {error ?? t`Status ${String(status)}`}
        </dd>
        <dt>{t`Took`}</dt>
        <dd class="num">{formatDuration(ms)}</dd>
      </dl>
      <Exchange heading="h4" request={request} response={response} />
    </div>
  );
}
