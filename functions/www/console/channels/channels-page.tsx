/* The list of the account's channels. */

import { useEffect, useState } from "preact/hooks";
import type { Channel } from "../../api/types";
import { Icon } from "../../ui/icons";
import { TableHead } from "../../ui/table-head";
import { FailureCount } from "../admin/failure-count";
import { EmptyList, ListPage, LoadedPage } from "../admin/list-page";
import { channelRoute } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { useRecentFailures, type FailureCounts } from "../state/alerts/recent-failures";
import { overlay } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

export function ChannelsPage() {
  const { api, channels: list } = useWorkspace();
  const failures = useRecentFailures(api, "channel");
  const [searchText, setSearchText] = useState("");
  const [problem, setProblem] = useState<string>();
  const load = () => {
    setProblem(undefined);
    list.load().catch((error: unknown) => setProblem(errorText(error)));
  };
  useEffect(load, []);

  const searchTerm = searchText.trim().toLowerCase();
  const isFound = (channel: Channel) =>
    `${channel.name} ${kindName(channel)} ${target(channel)}`.toLowerCase().includes(searchTerm);
  return (
    <ListPage
      title={t`Channels`}
      search={{
        label: t`Search channels`,
        placeholder: t`Name, site or server`,
        text: searchText,
        onInput: setSearchText,
      }}
      action={{ label: t`Add a channel`, icon: "plus", run: () => (overlay.value = { kind: "channel" }) }}
    >
      <LoadedPage loaded={{ value: list.items.value, problem, reload: load }} what={t`The channels`}>
        {(channels) => (
          <ChannelTable channels={channels.filter(isFound)} failures={failures} isSearch={searchTerm !== ""} />
        )}
      </LoadedPage>
    </ListPage>
  );
}

interface ChannelTableProps {
  channels: readonly Channel[];
  failures: FailureCounts | undefined;
  isSearch: boolean;
}

function ChannelTable({ channels, failures, isSearch }: ChannelTableProps) {
  if (channels.length === 0)
    return (
      <EmptyList
        icon="plug"
        title={isSearch ? t`No channel found` : t`There are no channels yet`}
        text={
          isSearch ? undefined : t`A channel is a chat window on your website, or an app of yours that calls the API.`
        }
      />
    );
  return (
    <table>
      <TableHead columns={[t`Name`, t`Kind`, [t`Sites or server`, "wide-only"], [t`State`, "wide-only"]]} />
      <tbody>
        {channels.map((channel) => (
          <tr key={channel.channel_id}>
            <td>
              <a class="person" href={hrefOf(channelRoute(channel.channel_id))}>
                <Icon name={channel.kind === "widget" ? "message-square" : "plug"} />
                <span class="clip" dir="auto">
                  {channel.name}
                </span>
                <FailureCount counts={failures} id={channel.channel_id} />
              </a>
            </td>
            <td>{kindName(channel)}</td>
            <td class="wide-only rest">
              <div class="clip">{target(channel)}</div>
            </td>
            <td class="wide-only">{channel.enabled ? t`On` : t`Off`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const kindName = ({ kind }: Channel) => (kind === "widget" ? t`Widget` : t`API`);

/** Returns the allowed sites of a widget, or the integrator's URL of an API channel. */
function target(channel: Channel): string {
  if (channel.kind === "api") return channel.integrator_url ?? t`Messages are fetched`;
  return channel.widget.allowed_sites.join(", ") || t`Every site`;
}
