import { ChoiceList } from "../admin/choice-list";
import { LoadedPage } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";
import { useWorkspace } from "../workspace-context";
import type { Audience } from "./widget-draft";
import { t } from "../../texts/translate";

interface AudienceFieldsProps {
  audience: Audience;
  onChange: (audience: Audience) => void;
}

/** Explains the business hours of a channel. */
export const HOURS_HELP = t`Outside them, the channel is closed even if agents are online. Without them, the hours of its only department or of the account apply.`;

const ascending = (ids: number[]) => ids.sort((a, b) => a - b);

/** The agents and departments that receive the chats of a channel. */
export function AudienceFields({ audience, onChange }: AudienceFieldsProps) {
  const workspace = useWorkspace();
  const request = useLoaded(async () => {
    if (workspace.roster.people.peek() === undefined) await workspace.roster.load();
  });
  const people = workspace.roster.people.value;
  if (people === undefined)
    return (
      <LoadedPage loaded={{ ...request, value: undefined }} what={t`The list of agents`}>
        {() => null}
      </LoadedPage>
    );
  return (
    <div class="field">
      <div class="two-fields">
        {people.agents.length > 0 && (
          <ChoiceList
            id="agent_ids"
            label={t`Agents`}
            options={people.agents}
            chosen={audience.agent_ids}
            onChange={(agent_ids) => onChange({ ...audience, agent_ids: ascending(agent_ids) })}
          />
        )}
        {people.departments.length > 0 && (
          <ChoiceList
            id="department_ids"
            label={t`Departments`}
            options={people.departments}
            chosen={audience.department_ids}
            onChange={(department_ids) => onChange({ ...audience, department_ids: ascending(department_ids) })}
          />
        )}
      </div>
      <span class="help">{t`They receive the chats. If nobody is chosen, all agents do.`}</span>
    </div>
  );
}
