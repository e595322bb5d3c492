import { useState } from "preact/hooks";
import type { CreatedBot } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { NAME_INPUT, SelectField, TextField } from "../../ui/form-fields";
import { NewRecordForm, useNewRecordForm, type DraftForm } from "../admin/draft-form";
import { LoadFailure, Loading } from "../admin/list-page";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useLoaded } from "../admin/use-loaded";
import { useRequestGuard } from "../admin/use-leave-guard";
import type { Problems } from "../admin/use-settings-form";
import { useWorkspace } from "../workspace-context";
import { BotChannels } from "./bot-channels";
import { t } from "../../texts/translate";

/** The minimum number of characters in a bot's token. */
const MIN_TOKEN_CHARACTERS = 20;

interface NewBot {
  provider_id: string;
  /** Empty to get a new one. */
  token: string;
  name: string;
  channel_ids: string[];
}
const NOTHING_CHOSEN: NewBot = { provider_id: "", token: "", name: "", channel_ids: [] };

const problemsOfDraft = ({ provider_id, token }: NewBot): Problems => ({
  ...(provider_id === "" ? { provider_id: t`Choose a provider.` } : {}),
  ...(token.trim() !== "" && token.trim().length < MIN_TOKEN_CHARACTERS
    ? { token: t`Enter at least ${MIN_TOKEN_CHARACTERS} characters, or nothing.` }
    : {}),
});

/** Connects a bot of a provider, and shows its secret once. */
export function ConnectBotDialog({ onClose }: { onClose: () => void }) {
  const { api, bots } = useWorkspace();
  const [connected, setConnected] = useState<CreatedBot>();
  const form = useNewRecordForm({
    fields: ["provider_id", "token", "name", "channel_ids"],
    initial: () => NOTHING_CHOSEN,
    check: problemsOfDraft,
    create: ({ provider_id, channel_ids, ...draft }) => {
      const [token, name] = [draft.token.trim(), draft.name.trim()];
      const body = { provider_id, ...(token === "" ? {} : { token }), channel_ids, ...(name === "" ? {} : { name }) };
      return api.post("/admin/bots", { body });
    },
    onCreated: (bot) => {
      const { signing_secret: _secret, token: _token, ...stored } = bot;
      bots.put(stored);
      setConnected(bot);
    },
  });
  useRequestGuard(form.isBusy);
  if (connected !== undefined)
    return <ConnectedDialog bot={connected} typedToken={form.draft.token.trim()} onClose={onClose} />;
  return (
    <Dialog key="question" title={t`Connect a bot`} class="wide-dialog" isLocked={form.isBusy} onClose={onClose}>
      <NewRecordForm form={form} label={t`Connect`} busyLabel={t`Connecting…`} onCancel={onClose}>
        <ProviderField form={form} />
        <TextField
          {...form.text("token")}
          label={t`Token (optional)`}
          help={t`The one that the provider gave you. Leave it empty to get a new one. It cannot be changed or shown later.`}
          input={{ spellcheck: false, dir: "ltr", maxLength: 255 }}
        />
        <TextField
          {...form.text("name")}
          label={t`Name (optional)`}
          help={t`Visitors see it beside the bot's messages.`}
          input={{ ...NAME_INPUT, placeholder: t`Bot` }}
        />
        <BotChannels
          chosen={form.draft.channel_ids}
          problem={form.problems["channel_ids"]}
          onChange={(channel_ids) => form.change({ channel_ids })}
        />
      </NewRecordForm>
    </Dialog>
  );
}

function ProviderField({ form }: { form: DraftForm<NewBot> }) {
  const { api } = useWorkspace();
  const { value: providers, problem, reload } = useLoaded(async () => (await api.get("/admin/providers")).providers);
  if (problem !== undefined)
    return <LoadFailure title={t`The providers could not be loaded`} text={problem} onRetry={reload} />;
  if (providers === undefined) return <Loading />;
  return (
    <SelectField
      {...form.choice("provider_id")}
      label={t`Provider`}
      help={t`The operator of the service registers providers.`}
      options={[
        { value: "", label: providers.length === 0 ? t`There are no providers yet` : t`Choose a provider` },
        ...providers.map(({ provider_id, name }) => ({ value: provider_id, label: name })),
      ]}
    />
  );
}

interface ConnectedDialogProps {
  bot: CreatedBot;
  typedToken: string;
  onClose: () => void;
}

function ConnectedDialog({ bot, typedToken, onClose }: ConnectedDialogProps) {
  const path = [bot.provider_id, bot.token ?? typedToken].map(encodeURIComponent).join("/");
  return (
    <ShownOnceDialog key="connected" title={t`${bot.name} is connected`} class="wide-dialog" onClose={onClose}>
      <p class="quiet-text">{t`The secret is shown only now. Give both to the provider of the bot.`}</p>
      <CopyField
        label={t`Address to which the provider sends the bot's events`}
        name={t`the address`}
        text={`${location.origin}/bot/webhooks/${path}`}
      />
      <CopyField
        label={t`Secret that signs the events for the provider`}
        name={t`the secret`}
        text={bot.signing_secret ?? ""}
      />
    </ShownOnceDialog>
  );
}
