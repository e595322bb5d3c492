/* The page of one bot. */

import { useState } from "preact/hooks";
import type { Bot } from "../../api/types";
import { SelectField, Switch, TextField } from "../../ui/form-fields";
import { toast } from "../../ui/toast";
import { DeleteByName } from "../admin/delete-by-name";
import { DETAIL_FORM_ID, DetailHeader, FormProblem, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { differences } from "../admin/form-changes";
import { ReceiverTest } from "../admin/receiver-test";
import { SigningSecret } from "../admin/signing-secret";
import { useDraft } from "../admin/use-draft";
import { useLeaveGuard } from "../admin/use-leave-guard";
import { useLoaded } from "../admin/use-loaded";
import { useSettingsForm } from "../admin/use-settings-form";
import { BOTS_ROUTE } from "../state/page-routes";
import { navigate } from "../state/route";
import { useWorkspace } from "../workspace-context";
import { BotActivity } from "./bot-activity";
import { BotChannels } from "./bot-channels";
import { useProviderNames } from "./use-provider-names";

const LIST = { name: "All bots", route: BOTS_ROUTE };
const DEFAULT_ANSWER_SECONDS = "120";

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
  channelIds: string[];
  /** The time limit for an answer in seconds, as it is typed. Undefined for no limit. */
  answerWithin: string | undefined;
}

const draftOf = ({ name, channel_ids, answer_within }: Bot): BotDraft => ({
  name,
  channelIds: channel_ids,
  answerWithin: answer_within === null ? undefined : String(answer_within),
});

function BotForm({ bot, onStored }: { bot: Bot; onStored: (bot: Bot) => void }) {
  const { api, bots } = useWorkspace();
  const { form, problems, setProblems, isBusy, send } = useSettingsForm(["name", "channel_ids", "answer_within"]);
  const { draft, setDraft, change, showStored } = useDraft(() => draftOf(bot));
  const provider = useProviderNames()?.get(bot.provider_id) ?? bot.provider_id;
  const path = { bot_id: bot.bot_id };
  const { name, channel_ids, answer_within } = bot;
  const changes = differences(
    { name, channel_ids, answer_within },
    {
      name: draft.name.trim(),
      channel_ids: draft.channelIds,
      answer_within: draft.answerWithin === undefined ? null : Number(draft.answerWithin),
    },
  );
  const hasChanges = Object.keys(changes).length > 0;
  useLeaveGuard(hasChanges);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (!hasChanges) return;
    const { answerWithin } = draft;
    const found = {
      ...(draft.name.trim() === "" ? { name: "Give the bot a name." } : {}),
      ...(answerWithin === undefined || /^[1-9]\d*$/.test(answerWithin.trim())
        ? {}
        : { answer_within: "Enter a whole number of seconds." }),
    };
    const stored = await send(found, () => api.patch("/admin/bots/{bot_id}", { path, body: changes }));
    if (stored === undefined) return;
    bots.put(stored);
    onStored(stored);
    showStored(draftOf(stored));
    toast("Saved. It applies within ten seconds.");
  };
  const discard = () => {
    setDraft(draftOf(bot));
    setProblems({});
  };
  const remove = async () => {
    await api.delete("/admin/bots/{bot_id}", { path });
    bots.remove(bot.bot_id);
    navigate(LIST.route, true);
    toast(`${bot.name} is disconnected.`);
  };
  return (
    <div class="detail-page">
      <DetailHeader name={bot.name} list={LIST} form={{ hasChanges, isBusy, onDiscard: discard }} />
      <div class="detail-settings scroll">
        <form ref={form} id={DETAIL_FORM_ID} noValidate onSubmit={(event) => void submit(event)}>
          <FormProblem text={problems[""]} />
          <FormSection title="General">
            <TextField
              id="name"
              label="Name"
              help="Visitors see it beside the bot's messages."
              problem={problems["name"]}
              value={draft.name}
              onInput={(name) => change({ name })}
              input={{ maxLength: 255, dir: "auto" }}
            />
            <BotChannels
              chosen={draft.channelIds}
              problem={problems["channel_ids"]}
              onChange={(channelIds) => change({ channelIds })}
            />
            <Switch
              label="Hand over to agents if the bot does not answer"
              help="If off, a visitor may wait for the bot without limit."
              isOn={draft.answerWithin !== undefined}
              onChange={(isOn) => change({ answerWithin: isOn ? DEFAULT_ANSWER_SECONDS : undefined })}
            />
            {draft.answerWithin !== undefined && (
              <TextField
                id="answer_within"
                label="Seconds until then"
                help="From 1 to 900, after the visitor's message was accepted."
                problem={problems["answer_within"]}
                value={draft.answerWithin}
                onInput={(answerWithin) => change({ answerWithin })}
                input={{ inputmode: "numeric" }}
              />
            )}
          </FormSection>
          <FormSection title="Connection">
            <dl class="facts">
              <dt>Provider</dt>
              <dd dir="auto">{provider}</dd>
            </dl>
            <p class="quiet-text">
              The provider and the token cannot be changed. Disconnect the bot and connect it again for another token.
            </p>
          </FormSection>
        </form>
        <BotTest botId={bot.bot_id} />
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

const TEST_EVENTS = ["CLIENT_MESSAGE", "AGENT_JOINED", "AGENT_UNAVAILABLE", "CHAT_CLOSED"] as const;

/** Sends a sample event to the bot, and shows the response. */
function BotTest({ botId }: { botId: string }) {
  const { api } = useWorkspace();
  const [event, setEvent] = useState<(typeof TEST_EVENTS)[number]>("CLIENT_MESSAGE");
  return (
    <FormSection title="Test">
      <SelectField
        id="test-event"
        label="Event"
        help="Sent at once with sample data, and signed like real events. What the bot sends for it is rejected, because the chat does not exist."
        value={event}
        options={TEST_EVENTS.map((name) => ({ value: name, label: name }))}
        onChange={setEvent}
      />
      <ReceiverTest
        label="Send the event"
        what={event}
        send={() => api.post("/admin/bots/{bot_id}/test", { path: { bot_id: botId }, body: { event } })}
      />
    </FormSection>
  );
}
