import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { CopyButton } from "../../ui/copy-button";
import { Dialog } from "../../ui/dialog";
import { useWorkspace } from "../workspace-context";
import { errorText } from "../state/workspace";

export interface CreatedChannel {
  name: string;
  endpoint: string;
  signingSecret: string;
}

/** A dialog for creating a channel that uses the channel API. The channel's URL and secret are shown only here, until
 * the dialog is closed. */
export function ChannelDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated?: (channel: CreatedChannel) => void;
}) {
  const { api } = useWorkspace();
  const [name, setName] = useState("");
  const [serverUrl, setServerUrl] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ text: string; field: string | undefined }>();
  const [createdChannel, setCreatedChannel] = useState<CreatedChannel>();

  const create = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    if (name.trim() === "") return setProblem({ text: "Give the channel a name.", field: "name" });
    if (serverUrl.trim() !== "" && !/^https?:\/\/[^\s/]+/i.test(serverUrl.trim()))
      return setProblem({
        text: "Enter an address that starts with https:// or http://, or leave it empty.",
        field: "integrator_url",
      });
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { name: name.trim(), ...(serverUrl.trim() === "" ? {} : { integrator_url: serverUrl.trim() }) };
      const { endpoint, signing_secret } = await api.post("/admin/channels", { body });
      const channel = { name: body.name, endpoint: endpoint ?? "", signingSecret: signing_secret ?? "" };
      setCreatedChannel(channel);
      onCreated?.(channel);
    } catch (error) {
      setProblem({ text: errorText(error), field: error instanceof ApiError ? error.field : undefined });
    } finally {
      setBusy(false);
    }
  };

  if (createdChannel !== undefined) {
    return (
      <Dialog title={`${createdChannel.name} is connected`} class="wide-dialog" onClose={onClose}>
        <div class="body scroll">
          <p class="quiet-text">
            Both are shown only now. Keep the address secret: anyone who has it can write as a visitor.
          </p>
          <div class="field">
            <span class="label">Address to which your front end sends messages</span>
            <div class="code-line">
              <code>{createdChannel.endpoint}</code>
              <CopyButton text={createdChannel.endpoint} label="Copy the address" />
            </div>
          </div>
          <div class="field">
            <span class="label">Secret that signs the requests to your server</span>
            <div class="code-line">
              <code>{createdChannel.signingSecret}</code>
              <CopyButton text={createdChannel.signingSecret} label="Copy the secret" />
            </div>
          </div>
          <footer>
            <button type="button" class="btn primary" data-autofocus onClick={onClose}>
              Done
            </button>
          </footer>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Add a channel" onClose={onClose}>
      <form class="body scroll" onSubmit={(event) => void create(event)} noValidate>
        <div class="field">
          <label for="channel-name">Name</label>
          <input
            id="channel-name"
            class="input"
            data-autofocus
            autocomplete="off"
            maxLength={254}
            placeholder="iOS app"
            value={name}
            aria-invalid={problem?.field === "name"}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <span class="help">Agents see it beside each chat.</span>
        </div>
        <div class="field">
          <label for="channel-server">Address of your server (optional)</label>
          <input
            id="channel-server"
            class="input"
            type="url"
            inputmode="url"
            autocomplete="off"
            spellcheck={false}
            dir="ltr"
            placeholder="https://"
            value={serverUrl}
            aria-invalid={problem?.field === "integrator_url"}
            onInput={(event) => setServerUrl(event.currentTarget.value)}
          />
          <span class="help">Agents' messages are sent there. You can set it later.</span>
        </div>
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            {problem.text}
          </p>
        )}
        <footer>
          <button type="button" class="btn line" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="btn primary" aria-disabled={isBusy}>
            {isBusy ? "Connecting…" : "Connect"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
