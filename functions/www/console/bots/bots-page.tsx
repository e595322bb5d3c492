/* The list of the account's bots. */

import { useEffect, useState } from "preact/hooks";
import type { Bot, Channel } from "../../api/types";
import { Icon } from "../../ui/icons";
import { TableHead } from "../../ui/table-head";
import { EmptyList, ListPage, LoadedPage } from "../admin/list-page";
import { botRoute } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { ConnectBotDialog } from "./connect-bot-dialog";
import { useProviderNames } from "./use-provider-names";
import { t } from "../../texts/translate";

export function BotsPage() {
  const { bots: list, channels } = useWorkspace();
  const [searchText, setSearchText] = useState("");
  const [isConnecting, setConnecting] = useState(false);
  const [problem, setProblem] = useState<string>();
  const load = () => {
    setProblem(undefined);
    Promise.all([list.load(), channels.load()]).catch((error: unknown) => setProblem(errorText(error)));
  };
  useEffect(load, []);
  const providers = useProviderNames();

  const searchTerm = searchText.trim().toLowerCase();
  const providerName = ({ provider_id }: Bot) => providers?.get(provider_id) ?? provider_id;
  const isFound = (bot: Bot) => `${bot.name} ${providerName(bot)}`.toLowerCase().includes(searchTerm);
  return (
    <ListPage
      title={t`Bots`}
      search={{ label: t`Search bots`, placeholder: t`Name or provider`, text: searchText, onInput: setSearchText }}
      action={{ label: t`Connect a bot`, icon: "plus", run: () => setConnecting(true) }}
    >
      <LoadedPage loaded={{ value: list.items.value, problem, reload: load }} what={t`The bots`}>
        {(bots) =>
          bots.length === 0 ? (
            <EmptyList
              icon="bot"
              title={t`There are no bots yet`}
              text={t`A bot answers visitors first, and invites an agent when it has no answer.`}
            />
          ) : (
            <BotTable bots={bots.filter(isFound)} channels={channels.items.value} providerName={providerName} />
          )
        }
      </LoadedPage>
      {isConnecting && <ConnectBotDialog onClose={() => setConnecting(false)} />}
    </ListPage>
  );
}

interface BotTableProps {
  bots: readonly Bot[];
  /** Undefined until they are loaded. */
  channels: readonly Channel[] | undefined;
  providerName: (bot: Bot) => string;
}

function BotTable({ bots, channels, providerName }: BotTableProps) {
  if (bots.length === 0) return <EmptyList icon="bot" title={t`No bot found`} />;
  const channelNames = ({ channel_ids }: Bot) => {
    if (channel_ids.length === 0) return t`No channel`;
    const names = channels?.filter(({ channel_id }) => channel_ids.includes(channel_id)).map(({ name }) => name);
    return names === undefined ? "…" : names.join(", ") || t`No channel`;
  };
  return (
    <table>
      <TableHead columns={[t`Name`, t`Channels`, [t`Provider`, "wide-only"], [t`Answers within`, "wide-only"]]} />
      <tbody>
        {bots.map((bot) => (
          <tr key={bot.bot_id}>
            <td>
              <a class="person" href={hrefOf(botRoute(bot.bot_id))}>
                <Icon name="bot" />
                <span class="clip" dir="auto">
                  {bot.name}
                </span>
              </a>
            </td>
            <td class="rest">
              <div class="clip" dir="auto">
                {channelNames(bot)}
              </div>
            </td>
            <td class="wide-only" dir="auto">
              {providerName(bot)}
            </td>
            <td class="wide-only num">{bot.answer_within === null ? t`No limit` : t`${bot.answer_within} s`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
