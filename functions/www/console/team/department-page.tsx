/* The page of one department: its name and its agents. */

import type { Agent, Department } from "../../api/types";
import { TextField } from "../../ui/form-fields";
import { toast } from "../../ui/toast";
import { compareNames } from "../../ui/words";
import { ChoiceList } from "../admin/choice-list";
import { DeleteByName } from "../admin/delete-by-name";
import { DETAIL_FORM_ID, DetailHeader, FormProblem, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { differences } from "../admin/form-changes";
import { useDraft } from "../admin/use-draft";
import { useLeaveGuard } from "../admin/use-leave-guard";
import { useLoaded } from "../admin/use-loaded";
import { useSettingsForm } from "../admin/use-settings-form";
import { navigate } from "../state/route";
import { useWorkspace } from "../workspace-context";
import { DEPARTMENTS_ROUTE } from "../state/page-routes";

const LIST = { name: "All departments", route: DEPARTMENTS_ROUTE };

export function DepartmentPage({ id }: { id: number }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(async () => {
    const [department, { agents }] = await Promise.all([
      api.get("/admin/departments/{department_id}", { path: { department_id: id } }),
      api.get("/admin/agents"),
    ]);
    return { department, agents: [...agents].sort(compareNames) };
  });
  return (
    <DetailPage loaded={loaded} what="The department" list={LIST}>
      {({ department, agents }) => (
        <DepartmentForm
          department={department}
          agents={agents}
          onStored={(department) => loaded.setValue({ department, agents })}
        />
      )}
    </DetailPage>
  );
}

interface DepartmentFormProps {
  department: Department;
  agents: readonly Agent[];
  onStored: (department: Department) => void;
}
type DepartmentDraft = Pick<Department, "name" | "agent_ids">;
const draftOf = ({ name, agent_ids }: Department): DepartmentDraft => ({ name, agent_ids });

function DepartmentForm({ department, agents, onStored }: DepartmentFormProps) {
  const workspace = useWorkspace();
  const { api } = workspace;
  const { form, problems, setProblems, isBusy, send } = useSettingsForm(["name", "agent_ids"]);
  const { draft, setDraft, change, showStored } = useDraft(() => draftOf(department));
  const path = { department_id: department.department_id };
  const changes = differences(draftOf(department), { ...draft, name: draft.name.trim() });
  const hasChanges = Object.keys(changes).length > 0;
  useLeaveGuard(hasChanges);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (!hasChanges) return;
    const found = draft.name.trim() === "" ? { name: "Give the department a name." } : {};
    const stored = await send(found, () => api.patch("/admin/departments/{department_id}", { path, body: changes }));
    if (stored === undefined) return;
    onStored(stored);
    showStored(draftOf(stored));
    workspace.roster.refresh();
    toast("Saved. It applies within ten seconds.");
  };
  const discard = () => {
    setDraft(draftOf(department));
    setProblems({});
  };
  const remove = async () => {
    await api.delete("/admin/departments/{department_id}", { path });
    workspace.roster.refresh();
    navigate(DEPARTMENTS_ROUTE, true);
    toast(`${department.name} is deleted.`);
  };
  return (
    <div class="detail-page">
      <DetailHeader name={department.name} list={LIST} form={{ hasChanges, isBusy, onDiscard: discard }} />
      <div class="detail-settings scroll">
        <form ref={form} id={DETAIL_FORM_ID} noValidate onSubmit={(event) => void submit(event)}>
          <FormProblem text={problems[""]} />
          <FormSection title="General">
            <TextField
              id="name"
              label="Name"
              problem={problems["name"]}
              value={draft.name}
              onInput={(name) => change({ name })}
              input={{ maxLength: 255, dir: "auto" }}
            />
            <ChoiceList
              id="agent_ids"
              label="Agents"
              help="They see the chats that are offered or transferred to the department."
              options={agents.map(({ agent_id, name }) => ({ id: agent_id, name }))}
              chosen={draft.agent_ids}
              problem={problems["agent_ids"]}
              onChange={(agent_ids) => change({ agent_ids: agent_ids.sort((a, b) => a - b) })}
            />
          </FormSection>
        </form>
        <DeleteByName
          thing="the department"
          name={department.name}
          id={department.department_id}
          effect="Its waiting chats are offered to the agents of their channels again."
          remove={remove}
        />
      </div>
    </div>
  );
}
