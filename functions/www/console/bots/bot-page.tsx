/* The page of one bot. */

import type { Bot } from "../../api/types";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { DeleteByName } from "../admin/delete-by-name";
import { DetailHeader, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { RecordForm, useRecordForm } from "../admin/draft-form";
import { EventTest } from "../admin/event-test";
import { SigningSecret } from "../admin/signing-secret";
import { useLoaded } from "../admin/use-loaded";
import { BOTS_ROUTE, playgroundRoute } from "../state/page/page-routes";
import { hrefOf, navigate } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { BotActivity } from "./bot-activity";
import { changesOf, DRAFT_FIELDS, draftOf, problemsOfDraft } from "./bot-draft";
import { GeneralFields } from "./general-fields";
import { useProviderNames } from "./use-provider-names";
import { VisitorFields } from "./visitor-fields";
import { t } from "../../texts/translate";

const LIST = { name: t`All bots`, route: BOTS_ROUTE };
export function BotPage({ botId }: { botId: string }) {
  const { api, channels } = useWorkspace();
  const loaded = useLoaded(async () => {
    const [bot] = await Promise.all([api.get("/admin/bots/{bot_id}", { path: { bot_id: botId } }), channels.load()]);
    return bot;
  });
  return (
    <DetailPage loaded={loaded} what={t`The bot`} list={LIST}>
      {(bot) => <BotForm bot={bot} onStored={loaded.setValue} />}
    </DetailPage>
  );
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
    fields: DRAFT_FIELDS,
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
    toast(t`${bot.name} is disconnected.`);
  };
  return (
    <div class="detail-page">
      <DetailHeader name={bot.name} list={LIST} form={form.buttons}>
        <a class="btn line" href={hrefOf(playgroundRoute(bot.bot_id))}>
          <Icon name="play" />
          {t`Playground`}
        </a>
      </DetailHeader>
      <div class="detail-settings scroll">
        <RecordForm form={form}>
          <GeneralFields form={form} />
          <VisitorFields form={form} />
          <Connection providerId={bot.provider_id} />
        </RecordForm>
        <EventTest
          events={TEST_EVENTS}
          initial="CLIENT_MESSAGE"
          help={t`Sent at once with sample data, and signed like real events. What the bot sends for it is rejected, because the chat does not exist.`}
          send={(event, clause) => api.post("/admin/bots/{bot_id}/test", { path, body: { event, clause } })}
        />
        <BotActivity botId={bot.bot_id} />
        <SigningSecret
          rotate={(keep_old_seconds) => api.post("/admin/bots/{bot_id}/rotate", { path, body: { keep_old_seconds } })}
        />
        <DeleteByName
          thing={t`the bot`}
          name={bot.name}
          id={bot.bot_id}
          effect={t`The bot no longer answers visitors. Agents can take over its open chats.`}
          remove={remove}
        />
      </div>
    </div>
  );
}

function Connection({ providerId }: { providerId: string }) {
  const provider = useProviderNames()?.get(providerId) ?? providerId;
  return (
    <FormSection title={t`Connection`}>
      <dl class="facts">
        <dt>{t`Provider`}</dt>
        <dd dir="auto">{provider}</dd>
      </dl>
      <p class="quiet-text">
        {t`The provider and the token cannot be changed. Disconnect the bot and connect it again for another token.`}
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
