import { useWorkspace } from "../workspace-context";

const NAMES = { online: "Online", away: "Away", offline: "Offline" };

/** Whether an agent is online. It follows the pushes of the service. */
export function PresenceText({ agentId }: { agentId: number }) {
  const agents = useWorkspace().directory.value?.agents;
  const status = agents?.find(({ id }) => id === agentId)?.status;
  if (status === undefined) return null;
  return (
    <span class="presence-text">
      <span class={`presence ${status}`} />
      {NAMES[status]}
    </span>
  );
}
