/* The page of one bot. */

import type { Bot } from "../../api/types";
import { NAME_INPUT, NUMBER_INPUT, Switch, TextField } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { DeleteByName } from "../admin/delete-by-name";
import { DetailHeader, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { RecordForm, useRecordForm, type DraftForm } from "../admin/draft-form";
import { EventTest } from "../admin/event-test";
import { changedFields } from "../admin/form-changes";
import { SigningSecret } from "../admin/signing-secret";
import { useLoaded } from "../admin/use-loaded";
import type { Problems } from "../admin/use-settings-form";
import { BOTS_ROUTE, playgroundRoute } from "../state/page/page-routes";
import { hrefOf, navigate } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { BotActivity } from "./bot-activity";
import { BotChannels } from "./bot-channels";
import { useProviderNames } from "./use-provider-names";

const LIST = { name: "All bots", route: BOTS_ROUTE };
const DEFAULT_ANSWER_SECONDS = "120";
const DEFAULT_AGENT_WAIT_SECONDS = "60";
const DEFAULT_QUIET_SECONDS = "3";

export function BotPage({ botId }: { botId: string }) {
  const { api, channels } = useWorkspace();
  const loaded = useLoaded(async () => {
    const [bot] = await Promise.all([api.get("/admin/bots/{bot_id}", { path: { bot_id: botId } }), channels.load()]);
    return bot;
  });
  return (
    <DetailPage loaded={loaded} what="The bot" list={LIST}>
      {(bot) => <BotForm bot={bot} onStored={loaded.setValue} />}
    </DetailPage>
  );
}

interface BotDraft {
  name: string;
  channel_ids: string[];
  /** The time limit for an answer in seconds, as it is typed. Undefined for no limit. */
  answer_within: string | undefined;
  /** How many seconds a chat waits for an agent, as it is typed. Undefined if it stays with the agents. */
  agent_wait_seconds: string | undefined;
  /** For how many seconds a visitor must be quiet, as it is typed. Undefined if each message is sent at once. */
  quiet_ms: string | undefined;
  /** The longest turn in seconds, as it is typed. */
  quiet_max_ms: string;
}

const typed = (seconds: number | null) => (seconds === null ? undefined : String(seconds));
const numberOf = (typedSeconds: string | undefined) => (typedSeconds === undefined ? null : Number(typedSeconds));
const isWhole = (typedSeconds: string | undefined) =>
  typedSeconds === undefined || /^[1-9]\d*$/.test(typedSeconds.trim());

const isSeconds = (typedSeconds: string) => /^\d+([.,]\d{1,3})?$/.test(typedSeconds.trim());
const millisecondsOf = (typedSeconds: string) => Math.round(Number(typedSeconds.trim().replace(",", ".")) * 1000);

const draftOf = ({ name, channel_ids, answer_within, agent_wait_seconds, quiet_ms, quiet_max_ms }: Bot): BotDraft => ({
  name,
  channel_ids,
  answer_within: typed(answer_within),
  agent_wait_seconds: typed(agent_wait_seconds),
  quiet_ms: quiet_ms === 0 ? undefined : String(quiet_ms / 1000),
  quiet_max_ms: String(quiet_max_ms / 1000),
});

function changesOf(bot: Bot, draft: BotDraft) {
  const { name, channel_ids, answer_within, agent_wait_seconds, quiet_ms, quiet_max_ms } = bot;
  const after = {
    name: draft.name.trim(),
    channel_ids: draft.channel_ids,
    answer_within: numberOf(draft.answer_within),
    agent_wait_seconds: numberOf(draft.agent_wait_seconds),
    quiet_ms: draft.quiet_ms === undefined ? 0 : millisecondsOf(draft.quiet_ms),
    quiet_max_ms: draft.quiet_ms === undefined ? quiet_max_ms : millisecondsOf(draft.quiet_max_ms),
  };
  return changedFields({ name, channel_ids, answer_within, agent_wait_seconds, quiet_ms, quiet_max_ms }, after);
}

const NOT_WHOLE = "Enter a whole number of seconds.";
const NOT_SECONDS = "Enter a number of seconds.";

function problemsOfDraft({ name, answer_within, agent_wait_seconds, quiet_ms, quiet_max_ms }: BotDraft): Problems {
  return {
    ...(name.trim() === "" ? { name: "Give the bot a name." } : {}),
    ...(isWhole(answer_within) ? {} : { answer_within: NOT_WHOLE }),
    ...(isWhole(agent_wait_seconds) ? {} : { agent_wait_seconds: NOT_WHOLE }),
    ...(quiet_ms === undefined || isSeconds(quiet_ms) ? {} : { quiet_ms: NOT_SECONDS }),
    ...(quiet_ms === undefined || isSeconds(quiet_max_ms) ? {} : { quiet_max_ms: NOT_SECONDS }),
  };
}

interface BotFormProps {
  bot: Bot;
  onStored: (bot: Bot) => void;
}

function BotForm({ bot, onStored }: BotFormProps) {
  const { api, bots } = useWorkspace();
  const path = { bot_id: bot.bot_id };
  const form = useRecordForm({
    stored: bot,
    fields: ["name", "channel_ids", "answer_within", "agent_wait_seconds", "quiet_ms", "quiet_max_ms"],
    draftOf,
    changesOf,
    check: problemsOfDraft,
    save: (changes) => api.patch("/admin/bots/{bot_id}", { path, body: changes }),
    onSaved: (stored) => {
      bots.put(stored);
      onStored(stored);
    },
  });
  const remove = async () => {
    await api.delete("/admin/bots/{bot_id}", { path });
    bots.remove(bot.bot_id);
    navigate(LIST.route, true);
    toast(`${bot.name} is disconnected.`);
  };
  return (
    <div class="detail-page">
      <DetailHeader name={bot.name} list={LIST} form={form.buttons}>
        <a class="btn line" href={hrefOf(playgroundRoute(bot.bot_id))}>
          <Icon name="play" />
          Playground
        </a>
      </DetailHeader>
      <div class="detail-settings scroll">
        <RecordForm form={form}>
          <GeneralFields form={form} />
          <Connection providerId={bot.provider_id} />
        </RecordForm>
        <EventTest
          events={TEST_EVENTS}
          initial="CLIENT_MESSAGE"
          help="Sent at once with sample data, and signed like real events. What the bot sends for it is rejected, because the chat does not exist."
          send={(event) => api.post("/admin/bots/{bot_id}/test", { path, body: { event } })}
        />
        <BotActivity botId={bot.bot_id} />
        <SigningSecret
          rotate={(keep_old_seconds) => api.post("/admin/bots/{bot_id}/rotate", { path, body: { keep_old_seconds } })}
        />
        <DeleteByName
          thing="the bot"
          name={bot.name}
          id={bot.bot_id}
          effect="The bot no longer answers visitors. Agents can take over its open chats."
          remove={remove}
        />
      </div>
    </div>
  );
}

function GeneralFields({ form }: { form: DraftForm<BotDraft> }) {
  const { draft, change } = form;
  return (
    <FormSection title="General">
      <TextField
        {...form.text("name")}
        label="Name"
        help="Visitors see it beside the bot's messages."
        input={NAME_INPUT}
      />
      <BotChannels
        chosen={draft.channel_ids}
        problem={form.problems["channel_ids"]}
        onChange={(channel_ids) => change({ channel_ids })}
      />
      <Switch
        label="Hand over to agents if the bot does not answer"
        help="If off, a visitor may wait for the bot without limit."
        isOn={draft.answer_within !== undefined}
        onChange={(isOn) => change({ answer_within: isOn ? DEFAULT_ANSWER_SECONDS : undefined })}
      />
      {draft.answer_within !== undefined && (
        <TextField
          {...form.text("answer_within")}
          label="Seconds until then"
          help="From 1 to 900, after the visitor's message was accepted."
          input={NUMBER_INPUT}
        />
      )}
      <Switch
        label="Give chats back to the bot if no agent accepts them"
        help="If off, a chat that the bot has handed over waits for the agents without limit."
        isOn={draft.agent_wait_seconds !== undefined}
        onChange={(isOn) => change({ agent_wait_seconds: isOn ? DEFAULT_AGENT_WAIT_SECONDS : undefined })}
      />
      {draft.agent_wait_seconds !== undefined && (
        <TextField
          {...form.text("agent_wait_seconds")}
          label="Seconds to accept a chat"
          help="From 10 to 900, after the bot has invited the agents."
          input={NUMBER_INPUT}
        />
      )}
      <TurnFields form={form} />
    </FormSection>
  );
}

function TurnFields({ form }: { form: DraftForm<BotDraft> }) {
  const { draft, change } = form;
  return (
    <>
      <Switch
        label="Wait until the visitor has finished writing"
        help="If off, the bot gets each message at once, and may answer the first of several too early."
        isOn={draft.quiet_ms !== undefined}
        onChange={(isOn) => change({ quiet_ms: isOn ? DEFAULT_QUIET_SECONDS : undefined })}
      />
      {draft.quiet_ms !== undefined && (
        <>
          <TextField
            {...form.text("quiet_ms")}
            label="Seconds without a message"
            help="Up to 10. Then the bot gets what the visitor has written as one event. Typing counts as writing."
            input={NUMBER_INPUT}
          />
          <TextField
            {...form.text("quiet_max_ms")}
            label="Longest wait in seconds"
            help="From 1 to 60, even if the visitor goes on."
            input={NUMBER_INPUT}
          />
        </>
      )}
    </>
  );
}

function Connection({ providerId }: { providerId: string }) {
  const provider = useProviderNames()?.get(providerId) ?? providerId;
  return (
    <FormSection title="Connection">
      <dl class="facts">
        <dt>Provider</dt>
        <dd dir="auto">{provider}</dd>
      </dl>
      <p class="quiet-text">
        The provider and the token cannot be changed. Disconnect the bot and connect it again for another token.
      </p>
    </FormSection>
  );
}

const TEST_EVENTS = (
  ["CLIENT_MESSAGE", "AGENT_JOINED", "AGENT_UNAVAILABLE", "CHAT_RETURNED", "CHAT_CLOSED"] as const
).map((name) => ({
  value: name,
  label: name,
}));
