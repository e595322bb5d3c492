/* The list of the account's agents. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Agent } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { TableHead } from "../../ui/table-head";
import { currentMinute, formatAgo, fullTime } from "../../ui/time";
import { compareNames } from "../../ui/words";
import { EmptyList, ListPage, LoadedPage } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";
import { hrefOf } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { AddAgentDialog } from "./add-agent-dialog";
import { PresenceText } from "./presence-text";
import { agentRoute } from "../state/page/page-routes";
import { t } from "../../texts/translate";

const roleName = ({ role }: Pick<Agent, "role">) => (role === "admin" ? t`Admin` : t`Agent`);

export function AgentsPage({ tabs }: { tabs: ComponentChildren }) {
  const workspace = useWorkspace();
  const { api } = workspace;
  const [searchText, setSearchText] = useState("");
  const [isAdding, setAdding] = useState(false);
  const loaded = useLoaded(async (): Promise<Agent[]> => {
    const [{ agents }] = await Promise.all([api.get("/admin/agents"), workspace.roster.load().catch(() => {})]);
    return [...agents].sort(compareNames);
  });
  const searchTerm = searchText.trim().toLowerCase();
  const isFound = (agent: Agent) => `${agent.name} ${agent.email} ${agent.role}`.toLowerCase().includes(searchTerm);
  return (
    <ListPage
      title={t`Team`}
      tabs={tabs}
      search={{ label: t`Search agents`, placeholder: t`Name or e-mail`, text: searchText, onInput: setSearchText }}
      action={{ label: t`Add an agent`, icon: "plus", run: () => setAdding(true) }}
    >
      <LoadedPage loaded={loaded} what={t`The agents`}>
        {(agents) => <AgentTable agents={agents.filter(isFound)} />}
      </LoadedPage>
      {isAdding && (
        <AddAgentDialog
          onAdded={(agent) => {
            loaded.setValue([...(loaded.value ?? []), agent].sort(compareNames));
            workspace.roster.refresh();
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </ListPage>
  );
}

function LastSeen({ at }: { at: number | null | undefined }) {
  // An agent who has just been added has never been seen.
  if (at === null || at === undefined) return <>–</>;
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={fullTime(at)}>
      {formatAgo(at, currentMinute.value)}
    </time>
  );
}

function AgentTable({ agents }: { agents: readonly Agent[] }) {
  if (agents.length === 0) return <EmptyList icon="users-round" title={t`Nobody found`} />;
  return (
    <table>
      <TableHead
        columns={[
          t`Name`,
          [t`E-mail`, "wide-only"],
          [t`Role`, "wide-only"],
          t`Status`,
          [t`Last seen`, "wide-only end"],
        ]}
      />
      <tbody>
        {agents.map((agent) => (
          <tr key={agent.agent_id}>
            <td>
              <a class="person" href={hrefOf(agentRoute(agent.agent_id))}>
                <Avatar id={agent.agent_id} name={agent.name} photo={agent.photo} />
                <span class="clip" dir="auto">
                  {agent.name}
                </span>
              </a>
            </td>
            <td class="wide-only rest">
              <div class="clip">{agent.email}</div>
            </td>
            <td class="wide-only">{roleName(agent)}</td>
            <td>
              <PresenceText agentId={agent.agent_id} />
            </td>
            <td class="wide-only num end">
              <LastSeen at={agent.last_seen_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
