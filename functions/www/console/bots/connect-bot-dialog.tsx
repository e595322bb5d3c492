import { useState } from "preact/hooks";
import type { Bot } from "../../api/types";
import { Dialog, SubmitButtons } from "../../ui/dialog";
import { SelectField, TextField } from "../../ui/form-fields";
import { FormProblem } from "../admin/detail-header";
import { LoadFailure, Loading } from "../admin/list-page";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useLoaded } from "../admin/use-loaded";
import { useRequestGuard } from "../admin/use-leave-guard";
import { useSettingsForm } from "../admin/use-settings-form";
import { useWorkspace } from "../workspace-context";
import { BotChannels } from "./bot-channels";

/** The minimum number of characters in a bot's token. */
const MIN_TOKEN_CHARACTERS = 20;

const FIELD_NAMES = ["provider_id", "token", "name", "channel_ids"];

/** Connects a bot of a provider, and shows its secret once. */
export function ConnectBotDialog({ onClose }: { onClose: () => void }) {
  const { api, bots } = useWorkspace();
  const { form, problems, isBusy, send } = useSettingsForm(FIELD_NAMES);
  useRequestGuard(isBusy);
  const providers = useLoaded(async () => (await api.get("/admin/providers")).providers);
  const [providerId, setProviderId] = useState("");
  const [token, setToken] = useState("");
  const [name, setName] = useState("");
  const [channelIds, setChannelIds] = useState<string[]>([]);
  const [connected, setConnected] = useState<Bot>();

  const submit = async (event: Event) => {
    event.preventDefault();
    const found = {
      ...(providerId === "" ? { provider_id: "Choose a provider." } : {}),
      ...(token.trim() !== "" && token.trim().length < MIN_TOKEN_CHARACTERS
        ? { token: `Enter at least ${MIN_TOKEN_CHARACTERS} characters, or nothing.` }
        : {}),
    };
    const body = {
      provider_id: providerId,
      ...(token.trim() === "" ? {} : { token: token.trim() }),
      channel_ids: channelIds,
      ...(name.trim() === "" ? {} : { name: name.trim() }),
    };
    const bot = await send(found, () => api.post("/admin/bots", { body }));
    if (bot === undefined) return;
    const { signing_secret: _secret, token: _token, ...stored } = bot;
    bots.put(stored);
    setConnected(bot);
  };
  if (connected !== undefined)
    return (
      <ShownOnceDialog key="connected" title={`${connected.name} is connected`} class="wide-dialog" onClose={onClose}>
        <p class="quiet-text">The secret is shown only now. Give both to the provider of the bot.</p>
        <CopyField
          label="Address to which the provider sends the bot's events"
          name="the address"
          text={`${location.origin}/bot/webhooks/${[connected.provider_id, connected.token ?? token.trim()].map(encodeURIComponent).join("/")}`}
        />
        <CopyField
          label="Secret that signs the events for the provider"
          name="the secret"
          text={connected.signing_secret ?? ""}
        />
      </ShownOnceDialog>
    );
  return (
    <Dialog key="question" title="Connect a bot" class="wide-dialog" isLocked={isBusy} onClose={onClose}>
      <form ref={form} class="body scroll" noValidate onSubmit={(event) => void submit(event)}>
        <FormProblem text={problems[""]} />
        {providers.value === undefined && providers.problem === undefined && <Loading />}
        {providers.problem !== undefined && (
          <LoadFailure title="The providers could not be loaded" text={providers.problem} onRetry={providers.reload} />
        )}
        {providers.value !== undefined && (
          <SelectField
            id="provider_id"
            label="Provider"
            help="The operator of the service registers providers."
            problem={problems["provider_id"]}
            value={providerId}
            options={[
              { value: "", label: providers.value.length === 0 ? "There are no providers yet" : "Choose a provider" },
              ...providers.value.map(({ provider_id, name }) => ({ value: provider_id, label: name })),
            ]}
            onChange={setProviderId}
          />
        )}
        <TextField
          id="token"
          label="Token (optional)"
          help="The one that the provider gave you. Leave it empty to get a new one. It cannot be changed or shown later."
          problem={problems["token"]}
          value={token}
          onInput={setToken}
          input={{ spellcheck: false, dir: "ltr", maxLength: 255 }}
        />
        <TextField
          id="name"
          label="Name (optional)"
          help="Visitors see it beside the bot's messages."
          problem={problems["name"]}
          value={name}
          onInput={setName}
          input={{ placeholder: "Bot", maxLength: 255, dir: "auto" }}
        />
        <BotChannels chosen={channelIds} problem={problems["channel_ids"]} onChange={setChannelIds} />
        <SubmitButtons isBusy={isBusy} label="Connect" busyLabel="Connecting…" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
