/* The page for an account without chats. Its steps: add a channel, copy its URL or tag, and send a test message. */

import "./first-run.css";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Channel } from "../../api/types";
import { CopyButton, copyText } from "../../ui/copy-button";
import { Icon } from "../../ui/icons";
import { curlCommand, sameOriginPath, sendTestMessage } from "../channels/test-message";
import { useWorkspace } from "../workspace-context";
import { channelRoute } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { overlay, type CreatedChannel } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import type { Workspace } from "../state/workspace";

export function isFirstRun(workspace: Workspace): boolean {
  const { chats, isEmptyAccount } = workspace;
  if (chats.loadState.value !== "ready" || chats.rows.value.size > 0) return false;
  checkClosedChats(workspace);
  return isEmptyAccount.value === true;
}

function checkClosedChats({ chats, isEmptyAccount }: Workspace): void {
  if (chats.closedLoadState.peek() !== "idle") return;
  queueMicrotask(() => {
    if (chats.closedLoadState.peek() !== "idle") return;
    void chats.loadClosed().then(() => {
      isEmptyAccount.value = chats.closedLoadState.peek() === "ready" && chats.rows.peek().size === 0;
    });
  });
}

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
      <span class="sign">{state === "done" ? <Icon name="check" label="Done" /> : number}</span>
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
    {isCopied ? "Copied" : "Copy"}
  </button>
);

export function FirstRun() {
  const workspace = useWorkspace();
  const { api } = workspace;
  const [channels, setChannels] = useState<readonly Channel[]>();
  const [problem, setProblem] = useState<string>();
  const [createdChannel, setCreatedChannel] = useState<CreatedChannel>();
  const [isCopied, setCopied] = useState(false);
  const [testResult, setTestResult] = useState<{ isSuccess: boolean; text: string }>();

  const readChannels = () => {
    setProblem(undefined);
    api.get("/admin/channels").then(
      ({ channels }) => setChannels(channels),
      (error: unknown) => setProblem(errorText(error)),
    );
  };
  useEffect(() => {
    if (workspace.isAdmin) readChannels();
  }, []);

  if (!workspace.isAdmin) {
    return (
      <section class="conversation" aria-label="Conversation">
        <div class="blank">
          <Icon name="message-square" />
          <h2>No visitor has written yet</h2>
          <p>Chats appear here when a visitor writes in a channel that is assigned to you. Admins add channels.</p>
        </div>
      </section>
    );
  }

  const firstChannel = channels?.find((channel) => channel.kind === "api");
  const widget = channels?.find((channel) => channel.kind === "widget");
  const hasChannel = createdChannel !== undefined || firstChannel !== undefined || widget !== undefined;
  const name = createdChannel?.name ?? firstChannel?.name ?? widget?.name ?? "";
  // The dialog outlives this page, which disappears when the first chat arrives.
  const addChannel = () => {
    const onCreated = (channel: CreatedChannel) => {
      setCreatedChannel(channel);
      readChannels();
    };
    overlay.value = { kind: "channel", onCreated };
  };
  const copy = (text: string) => void copyText(text).then((isDone) => isDone && setCopied(true));
  const endpointUrl = createdChannel?.endpoint;
  const path = endpointUrl === undefined ? undefined : sameOriginPath(endpointUrl, location.origin);

  const rotateEndpoint = async () => {
    if (firstChannel === undefined) return;
    try {
      const { endpoint } = await api.post("/admin/channels/{channel_id}/rotate", {
        path: { channel_id: firstChannel.channel_id },
        body: {},
      });
      setCreatedChannel({ name: firstChannel.name, endpoint, signingSecret: "" });
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  const sendTest = async () => {
    if (path === undefined) return;
    setTestResult(undefined);
    const { isSuccess, status, responseBody } = await sendTestMessage(path);
    const text =
      status === undefined
        ? "The service did not respond."
        : isSuccess
          ? `Status ${status}. The chat appears in a moment.`
          : `Status ${status}: ${responseBody.slice(0, 200)}`;
    setTestResult({ isSuccess, text });
    if (isSuccess) workspace.sync.reconnectNow();
  };

  return (
    <section class="conversation first-run scroll" aria-label="First steps">
      <div>
        <h2>Welcome{workspace.me.name === "" ? "" : `, ${workspace.me.name.split(" ")[0]}`}</h2>
        <p>Three steps until the first visitor can write to you.</p>
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            <Icon name="circle-alert" />
            <span class="grow">{problem}</span>
            <button type="button" class="btn line" onClick={readChannels}>
              Try again
            </button>
          </p>
        )}
        <ol class="steps">
          <StepItem
            number={1}
            title={hasChannel ? `Channel ${name} added` : "Add a channel"}
            state={hasChannel ? "done" : "now"}
          >
            {!hasChannel && (
              <>
                <p>A channel connects an app, a site or another front end in which visitors write.</p>
                <div class="acts">
                  <button type="button" class="btn primary" onClick={addChannel}>
                    <Icon name="plus" />
                    Add a channel
                  </button>
                </div>
              </>
            )}
          </StepItem>
          {widget !== undefined && firstChannel === undefined && createdChannel === undefined ? (
            <>
              <StepItem number={2} title="Copy its tag" state={isCopied ? "done" : "now"}>
                <p>Paste it into each page that shows the chat window.</p>
                <div class="code-line">
                  <code>{widget.snippet}</code>
                  <CopyStepButton isCopied={isCopied} onClick={() => copy(widget.snippet)} />
                </div>
                <div class="acts">
                  <a class="btn line" href={hrefOf(channelRoute(widget.channel_id))}>
                    <Icon name="pencil" />
                    Look and settings
                  </a>
                </div>
              </StepItem>
              <StepItem number={3} title="Send yourself a message" state={isCopied ? "now" : "later"}>
                <p>Open a page with the tag, and write in its chat window. The chat appears here.</p>
              </StepItem>
            </>
          ) : (
            <>
              <StepItem number={2} title="Copy its address" state={isCopied ? "done" : hasChannel ? "now" : "later"}>
                {endpointUrl === undefined ? (
                  <>
                    <p>
                      The address was shown once, when the channel was created. You can create a new one; the old one
                      stays valid for a day.
                    </p>
                    <div class="acts">
                      <button type="button" class="btn line" onClick={() => void rotateEndpoint()}>
                        Create a new address
                      </button>
                    </div>
                  </>
                ) : (
                  <div class="code-line">
                    <code>{endpointUrl}</code>
                    <CopyStepButton isCopied={isCopied} onClick={() => copy(endpointUrl)} />
                  </div>
                )}
              </StepItem>
              <StepItem
                number={3}
                title="Send yourself a message"
                state={endpointUrl === undefined ? "later" : isCopied ? "now" : "later"}
              >
                <p>From a terminal, as your front end would:</p>
                {endpointUrl !== undefined && (
                  <div class="code-line">
                    <code>{curlCommand(endpointUrl)}</code>
                    <CopyButton text={curlCommand(endpointUrl)} label="Copy the command" />
                  </div>
                )}
                {path !== undefined && (
                  <div class="acts">
                    <button type="button" class="btn primary" onClick={() => void sendTest()}>
                      <Icon name="send-horizontal" />
                      Send it from here
                    </button>
                  </div>
                )}
                {testResult !== undefined && (
                  <p class={testResult.isSuccess ? "test-result good" : "test-result bad"} role="status">
                    {testResult.text}
                  </p>
                )}
              </StepItem>
            </>
          )}
        </ol>
      </div>
    </section>
  );
}
