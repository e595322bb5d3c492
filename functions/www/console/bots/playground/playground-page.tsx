/* The playground of a bot: an admin writes as a visitor, and sees the bot's events beside the conversation. */

import { useState } from "preact/hooks";
import type { Bot, Channel, WidgetChannel } from "../../../api/types";
import { DetailHeader } from "../../admin/detail-header";
import { DetailPage } from "../../admin/detail-page";
import { FilterSelect } from "../../admin/filter-select";
import { useLoaded } from "../../admin/use-loaded";
import { botRoute } from "../../state/page/page-routes";
import { useWorkspace } from "../../workspace-context";
import { NoChannel } from "./no-channel";
import { Playground } from "./playground";
import { t } from "../../../texts/translate";

const isWidget = (channel: Channel): channel is WidgetChannel => channel.kind === "widget";
const settingsOf = (botId: string, name: string) => ({ name, route: botRoute(botId) });

export function PlaygroundPage({ botId }: { botId: string }) {
  const { api, channels } = useWorkspace();
  const loaded = useLoaded(async () => {
    const [bot] = await Promise.all([api.get("/admin/bots/{bot_id}", { path: { bot_id: botId } }), channels.load()]);
    return bot;
  });
  return (
    <DetailPage loaded={loaded} what={t`The bot`} list={settingsOf(botId, t`The bot's settings`)}>
      {(bot) => <ChannelChoice bot={bot} widgets={(channels.items.value ?? []).filter(isWidget)} />}
    </DetailPage>
  );
}

/** The playground with one of the bot's widgets. `widgets` are all those of the account. */
function ChannelChoice({ bot, widgets }: { bot: Bot; widgets: readonly WidgetChannel[] }) {
  const connected = widgets.filter(({ channel_id }) => bot.channel_ids.includes(channel_id));
  const [chosenId, setChosenId] = useState(connected[0]?.channel_id);
  const channel = connected.find(({ channel_id }) => channel_id === chosenId) ?? connected[0];
  const header = { name: t`Playground: ${bot.name}`, list: settingsOf(bot.bot_id, t`Settings of ${bot.name}`) };
  if (channel === undefined)
    return (
      <div class="detail-page">
        <DetailHeader {...header} />
        <NoChannel botId={bot.bot_id} hasWidgets={widgets.length > 0} />
      </div>
    );
  const choice = connected.length > 1 && (
    <FilterSelect
      label={t`Channel`}
      value={channel.channel_id}
      options={connected.map(({ channel_id, name }) => ({ value: channel_id, label: name }))}
      onChange={setChosenId}
    />
  );
  return <Playground key={channel.channel_id} botId={bot.bot_id} channel={channel} header={header} choice={choice} />;
}
