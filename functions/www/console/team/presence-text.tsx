import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

const NAMES = { online: t`Online`, away: t`Away`, offline: t`Offline` };

/** Shows whether an agent is online, away or offline. Pushes keep it up to date. */
export function PresenceText({ agentId }: { agentId: number }) {
  const agents = useWorkspace().roster.people.value?.agents;
  const status = agents?.find(({ id }) => id === agentId)?.status;
  if (status === undefined) return null;
  return (
    <span class="presence-text">
      <span class={`presence ${status}`} />
      {NAMES[status]}
    </span>
  );
}
