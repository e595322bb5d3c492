/* A test of a receiver: a request with sample data, and the response. */

import { useState } from "preact/hooks";
import type { ReceiverTestResult } from "../../api/types";
import { Icon } from "../../ui/icons";
import { formatDuration } from "../../ui/time";
import { errorText } from "../state/page/error-text";
import { CodeBlock } from "./code-block";
import { FormProblem } from "./detail-header";
import { prettyBody, requestText } from "./sent-request";

interface ReceiverTestProps {
  /** What the button says, such as "Send the event". */
  label: string;
  /** What is sent, such as "chat_accepted". */
  what: string;
  send: () => Promise<ReceiverTestResult>;
}

/** A button that sends a sample request and shows the result. */
export function ReceiverTest({ label, what, send }: ReceiverTestProps) {
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
      <div>
        <button type="button" class="btn line" aria-disabled={isBusy} onClick={() => void test()}>
          <Icon name="send-horizontal" />
          {isBusy ? "Sending…" : label}
        </button>
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
        <dt>Sent</dt>
        <dd>
          <code>{what}</code>
        </dd>
        <dt>Response</dt>
        <dd>
          <Icon name={error === null ? "circle-check" : "circle-alert"} />
          {error ?? `Status ${status}`}
        </dd>
        <dt>Took</dt>
        <dd class="num">{formatDuration(ms)}</dd>
      </dl>
      <h4>Request</h4>
      <CodeBlock label="Request" text={requestText(request)} />
      {response !== null && response.body !== "" && (
        <>
          <h4>Body of the response</h4>
          <CodeBlock
            label="Body of the response"
            text={response.body_truncated ? `${response.body}…` : prettyBody(response.body)}
          />
        </>
      )}
    </div>
  );
}
