/* The page for an account without chats. Its steps: add a channel, copy its URL or tag, and send a test message. */

import "./first-run.css";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Channel, WidgetChannel } from "../../api/types";
import { CopyButton, copyText } from "../../ui/copy-button";
import { Icon } from "../../ui/icons";
import { curlCommand, sameOriginPath, sendTestMessage } from "../channels/test-message";
import { useWorkspace } from "../workspace-context";
import { channelRoute } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { overlay, type CreatedChannel } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import { t } from "../../texts/translate";

type StepState = "done" | "now" | "later";

function StepItem({
  number,
  title,
  state,
  children,
}: {
  number: number;
  title: string;
  state: StepState;
  children?: ComponentChildren;
}) {
  return (
    <li class={state} aria-current={state === "now" ? "step" : undefined}>
      <span class="sign">{state === "done" ? <Icon name="check" label={t`Done`} /> : number}</span>
      <div class="inside">
        <h3>{title}</h3>
        {state !== "later" && children}
      </div>
    </li>
  );
}

const CopyStepButton = ({ isCopied, onClick }: { isCopied: boolean; onClick: () => void }) => (
  <button type="button" class="btn line" onClick={onClick}>
    <Icon name={isCopied ? "check" : "copy"} />
    {isCopied ? t`Copied` : t`Copy`}
  </button>
);

/** The account's first channels, and the one that was created here, whose address only this page knows. */
function useFirstChannel() {
  const { api, isAdmin } = useWorkspace();
  const [channels, setChannels] = useState<readonly Channel[]>();
  const [problem, setProblem] = useState<string>();
  const [created, setCreated] = useState<CreatedChannel>();
  const read = () => {
    setProblem(undefined);
    api.get("/admin/channels").then(
      ({ channels }) => setChannels(channels),
      (error: unknown) => setProblem(errorText(error)),
    );
  };
  useEffect(() => {
    if (isAdmin) read();
  }, []);

  const apiChannel = channels?.find((channel) => channel.kind === "api");
  const widget = channels?.find((channel) => channel.kind === "widget");
  // The dialog outlives this page, which disappears when the first chat arrives.
  const add = () => {
    const onCreated = (channel: CreatedChannel) => {
      setCreated(channel);
      read();
    };
    overlay.value = { kind: "channel", onCreated };
  };
  const rotateEndpoint = async () => {
    if (apiChannel === undefined) return;
    const { name, channel_id } = apiChannel;
    try {
      const { endpoint } = await api.post("/admin/channels/{channel_id}/rotate", { path: { channel_id }, body: {} });
      setCreated({ name, endpoint, signingSecret: "" });
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  return {
    name: created?.name ?? apiChannel?.name ?? widget?.name,
    /** The widget, if the account has no other channel. */
    widget: apiChannel === undefined && created === undefined ? widget : undefined,
    endpoint: created?.endpoint,
    problem,
    read,
    add,
    rotateEndpoint,
  };
}

export function FirstRun() {
  const { me, isAdmin } = useWorkspace();
  const channel = useFirstChannel();
  if (!isAdmin) return <NoVisitors />;
  const { name, widget, endpoint, problem } = channel;
  return (
    <section class="conversation first-run scroll" aria-label={t`First steps`}>
      <div>
        <h2>{me.name === "" ? t`Welcome` : t`Welcome, ${me.name.split(" ")[0] ?? me.name}`}</h2>
        <p>{t`Three steps until the first visitor can write to you.`}</p>
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            <Icon name="circle-alert" />
            <span class="grow">{problem}</span>
            <button type="button" class="btn line" onClick={channel.read}>
              {t`Try again`}
            </button>
          </p>
        )}
        <ol class="steps">
          <AddStep name={name} onAdd={channel.add} />
          {widget !== undefined ? (
            <WidgetSteps widget={widget} />
          ) : (
            <ApiSteps
              hasChannel={name !== undefined}
              endpoint={endpoint}
              onRotate={() => void channel.rotateEndpoint()}
            />
          )}
        </ol>
      </div>
    </section>
  );
}

/** What agents see who cannot add channels. */
const NoVisitors = () => (
  <section class="conversation" aria-label={t`Conversation`}>
    <div class="blank">
      <Icon name="message-square" />
      <h2>{t`No visitor has written yet`}</h2>
      <p>{t`Chats appear here when a visitor writes in a channel that is assigned to you. Admins add channels.`}</p>
    </div>
  </section>
);

function AddStep({ name, onAdd }: { name: string | undefined; onAdd: () => void }) {
  if (name !== undefined) return <StepItem number={1} title={t`Channel ${name} added`} state="done" />;
  return (
    <StepItem number={1} title={t`Add a channel`} state="now">
      <p>{t`A channel connects an app, a site or another front end in which visitors write.`}</p>
      <div class="acts">
        <button type="button" class="btn primary" onClick={onAdd}>
          <Icon name="plus" />
          {t`Add a channel`}
        </button>
      </div>
    </StepItem>
  );
}

function useCopying() {
  const [isCopied, setCopied] = useState(false);
  const copy = (text: string) => void copyText(text).then((isDone) => isDone && setCopied(true));
  return { isCopied, copy };
}

function WidgetSteps({ widget: { channel_id, snippet } }: { widget: WidgetChannel }) {
  const { isCopied, copy } = useCopying();
  return (
    <>
      <StepItem number={2} title={t`Copy its tag`} state={isCopied ? "done" : "now"}>
        <p>{t`Paste it into each page that shows the chat window.`}</p>
        <div class="code-line">
          <code>{snippet}</code>
          <CopyStepButton isCopied={isCopied} onClick={() => copy(snippet)} />
        </div>
        <div class="acts">
          <a class="btn line" href={hrefOf(channelRoute(channel_id))}>
            <Icon name="pencil" />
            {t`Look and settings`}
          </a>
        </div>
      </StepItem>
      <StepItem number={3} title={t`Send yourself a message`} state={isCopied ? "now" : "later"}>
        <p>{t`Open a page with the tag, and write in its chat window. The chat appears here.`}</p>
      </StepItem>
    </>
  );
}

function ApiSteps({
  hasChannel,
  endpoint,
  onRotate,
}: {
  hasChannel: boolean;
  endpoint: string | undefined;
  onRotate: () => void;
}) {
  const { isCopied, copy } = useCopying();
  return (
    <>
      <StepItem number={2} title={t`Copy its address`} state={isCopied ? "done" : hasChannel ? "now" : "later"}>
        {endpoint === undefined ? (
          <>
            <p>
              {t`The address was shown once, when the channel was created. You can create a new one; the old one stays valid for a day.`}
            </p>
            <div class="acts">
              <button type="button" class="btn line" onClick={onRotate}>
                {t`Create a new address`}
              </button>
            </div>
          </>
        ) : (
          <div class="code-line">
            <code>{endpoint}</code>
            <CopyStepButton isCopied={isCopied} onClick={() => copy(endpoint)} />
          </div>
        )}
      </StepItem>
      <StepItem
        number={3}
        title={t`Send yourself a message`}
        state={endpoint !== undefined && isCopied ? "now" : "later"}
      >
        {endpoint !== undefined && <TestMessage endpoint={endpoint} />}
      </StepItem>
    </>
  );
}

/** The command that sends a test message, and a button that sends it from here if the address belongs to this service. */
function TestMessage({ endpoint }: { endpoint: string }) {
  const { sync } = useWorkspace();
  const [result, setResult] = useState<{ isSuccess: boolean; text: string }>();
  const command = curlCommand(endpoint);
  const path = sameOriginPath(endpoint, location.origin);
  const send = async (path: string) => {
    setResult(undefined);
    const { isSuccess, status, responseBody } = await sendTestMessage(path);
    const text =
      status === undefined
        ? t`The service did not respond.`
        : isSuccess
          ? t`Status ${status}. The chat appears in a moment.`
          : t`Status ${status}: ${responseBody.slice(0, 200)}`;
    setResult({ isSuccess, text });
    if (isSuccess) sync.reconnectNow();
  };
  return (
    <>
      <p>{t`From a terminal, as your front end would:`}</p>
      <div class="code-line">
        <code>{command}</code>
        <CopyButton text={command} label={t`Copy the command`} />
      </div>
      {path !== undefined && (
        <div class="acts">
          <button type="button" class="btn primary" onClick={() => void send(path)}>
            <Icon name="send-horizontal" />
            {t`Send it from here`}
          </button>
        </div>
      )}
      {result !== undefined && (
        <p class={result.isSuccess ? "test-result good" : "test-result bad"} role="status">
          {result.text}
        </p>
      )}
    </>
  );
}
