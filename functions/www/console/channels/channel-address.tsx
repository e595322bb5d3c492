/* What an admin needs to connect an API channel: its address, a command that works, a test message, and code that
   verifies signatures. */

import { useState } from "preact/hooks";
import phpIntegrator from "../../../../docs/examples/php/integrator.php";
import nodeIntegrator from "../../../../docs/examples/node/integrator.js";
import pythonIntegrator from "../../../../docs/examples/python/integrator.py";
import phpSender from "../../../../docs/examples/php/sender.php";
import nodeSender from "../../../../docs/examples/node/sender.js";
import pythonSender from "../../../../docs/examples/python/sender.py";
import { CopyButton } from "../../ui/copy-button";
import { Segments } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { formatDuration } from "../../ui/time";
import { CodeBlock } from "../admin/code-block";
import { CopyField } from "../admin/secret";
import { prettyBody, requestText } from "../admin/sent-request";
import { curlCommand, sameOriginPath, sendTestMessage, type TestMessageResult } from "./test-message";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

/** The endpoint URL of a channel, and ways to try it out. The service returns the URL only once, when it creates the
 * URL. */
export function ChannelAddress({ endpoint }: { endpoint: string }) {
  return (
    <>
      <CopyField
        label={t`Address to which your server sends visitors' messages`}
        name={t`the address`}
        text={endpoint}
      />
      <CopyField label={t`A message from a terminal`} name={t`the command`} text={curlCommand(endpoint)} />
      <TestMessage endpoint={endpoint} />
    </>
  );
}

function TestMessage({ endpoint }: { endpoint: string }) {
  const { sync } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<TestMessageResult>();
  const path = sameOriginPath(endpoint, location.origin);
  // The Content-Security-Policy of the page allows requests to its own origin only.
  if (path === undefined) return null;
  const send = async () => {
    if (isBusy) return;
    setBusy(true);
    const sent = await sendTestMessage(path);
    setResult(sent);
    setBusy(false);
    if (sent.isSuccess) sync.reconnectNow();
  };
  return (
    <div class="test-message">
      <div>
        <button type="button" class="btn line" aria-disabled={isBusy} onClick={() => void send()}>
          <Icon name="send-horizontal" />
          {isBusy ? t`Sending…` : t`Send a test message`}
        </button>
      </div>
      <div role="status">{result !== undefined && <TestMessageExchange result={result} />}</div>
    </div>
  );
}

function TestMessageExchange({ result }: { result: TestMessageResult }) {
  const { isSuccess, status, ms, request, responseBody } = result;
  return (
    <div class="exchange">
      <p class={isSuccess ? "test-result good" : "test-result bad"}>
        {status === undefined ? t`The service did not respond.` : t`Status ${status} after ${formatDuration(ms)}.`}
        {isSuccess && ` ${t`The chat is in the inbox.`}`}
      </p>
      <CodeBlock label={t`Request`} text={requestText(request)} />
      {responseBody !== "" && <CodeBlock label={t`Response`} text={prettyBody(responseBody)} />}
    </div>
  );
}

const LANGUAGES = [
  { value: "python", label: "Python" },
  { value: "node", label: "Node" },
  { value: "php", label: "PHP" },
] as const;
type Language = (typeof LANGUAGES)[number]["value"];
type Programs = Record<Language, string>;
const INTEGRATORS: Programs = { python: pythonIntegrator, node: nodeIntegrator, php: phpIntegrator };
const SENDERS: Programs = { python: pythonSender, node: nodeSender, php: phpSender };

/** Example servers that verify the signature of requests. */
export const SignatureCode = () => (
  <ExampleCode summary={t`Code that verifies the signature`} name="integrator" programs={INTEGRATORS} />
);

/** Example clients that send visitors' messages. */
const SenderCode = () => <ExampleCode summary={t`Code that sends messages`} name="sender" programs={SENDERS} />;

/** Example programs, which are shown on demand. `name` distinguishes the choices of languages on a page. */
function ExampleCode({ summary, name, programs }: { summary: string; name: string; programs: Programs }) {
  const [isOpen, setOpen] = useState(false);
  const [language, setLanguage] = useState<Language>("python");
  return (
    <details class="signature-code" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && (
        <div class="field">
          <div class="signature-bar">
            <Segments
              name={`${name}-language`}
              label={t`Language`}
              hidesLabel
              value={language}
              options={LANGUAGES}
              onChange={setLanguage}
            />
            <CopyButton text={programs[language]} label={t`Copy the code`} caption={t`Copy`} />
          </div>
          <CodeBlock label={t`Code`} text={programs[language]} />
        </div>
      )}
    </details>
  );
}

/** The endpoint URL and the signing secret of a new API channel, which are shown only once. */
export function CreatedChannelBody({ endpoint, signingSecret }: { endpoint: string; signingSecret: string }) {
  return (
    <>
      <p class="quiet-text">
        {t`The address and the secret are shown only now. Keep the address on your server, never in an app or a page: anyone who has it can write as any visitor.`}
      </p>
      <ChannelAddress endpoint={endpoint} />
      <SenderCode />
      <CopyField label={t`Secret that signs the requests to your server`} name={t`the secret`} text={signingSecret} />
      <SignatureCode />
    </>
  );
}
