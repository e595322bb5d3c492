/* The page of one department: its name and its agents. */

import type { Agent, Department } from "../../api/types";
import { NAME_INPUT, SelectField, TextField } from "../../ui/form-fields";
import { toast } from "../../ui/toast";
import { compareNames } from "../../ui/words";
import {
  ANSWER_FIELDS,
  answerTimesDraftOf,
  answerTimesOf,
  answerTimesProblems,
  ASSIGNMENT_FIELDS,
  assignmentDraftOf,
  assignmentProblems,
  departmentAssignmentOf,
  type AnswerTimesDraft,
  type AssignmentDraft,
} from "../admin/assignment-draft";
import { AnswerTimesFields, AssignmentFields } from "../admin/assignment-fields";
import { BusinessHoursFields } from "../admin/business-hours";
import { HOURS_FIELDS, hoursDraftOf, hoursProblems, type HoursDraft } from "../admin/business-hours-draft";
import { ChoiceList } from "../admin/choice-list";
import { DeleteByName } from "../admin/delete-by-name";
import { DetailHeader, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { RecordForm, useRecordForm } from "../admin/draft-form";
import { changedFields } from "../admin/form-changes";
import { useLoaded } from "../admin/use-loaded";
import type { Problems } from "../admin/use-settings-form";
import { navigate } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { DEPARTMENTS_ROUTE } from "../state/page/page-routes";
import { t } from "../../texts/translate";

const LIST = { name: t`All departments`, route: DEPARTMENTS_ROUTE };

export function DepartmentPage({ id }: { id: number }) {
  const { api, bots } = useWorkspace();
  const loaded = useLoaded(async () => {
    const [department, { agents }] = await Promise.all([
      api.get("/admin/departments/{department_id}", { path: { department_id: id } }),
      api.get("/admin/agents"),
      bots.load(),
    ]);
    return { department, agents: [...agents].sort(compareNames) };
  });
  return (
    <DetailPage loaded={loaded} what={t`The department`} list={LIST}>
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
interface DepartmentDraft extends Pick<Department, "name" | "agent_ids" | "bot_id"> {
  business_hours: HoursDraft;
  assignment: AssignmentDraft | null;
  answer_times: AnswerTimesDraft;
}
const draftOf = (department: Department): DepartmentDraft => ({
  ...fieldsOf(department),
  assignment: assignmentDraftOf(department.assignment),
  answer_times: answerTimesDraftOf(department.answer_times),
});
const fieldsOf = ({ name, agent_ids, bot_id, business_hours }: Department) => ({
  name,
  agent_ids,
  bot_id,
  business_hours: hoursDraftOf(business_hours),
});

const bodyOf = ({ assignment, answer_times, name, ...others }: DepartmentDraft) => ({
  ...others,
  name: name.trim(),
  assignment: departmentAssignmentOf(assignment),
  answer_times: answerTimesOf(answer_times),
});

function DepartmentForm({ department, agents, onStored }: DepartmentFormProps) {
  const { api, bots, roster } = useWorkspace();
  const known = bots.items.value ?? [];
  const path = { department_id: department.department_id };
  const form = useRecordForm({
    stored: department,
    fields: ["name", "agent_ids", "bot_id", ...HOURS_FIELDS, ...ASSIGNMENT_FIELDS, ...ANSWER_FIELDS],
    draftOf,
    changesOf: (stored, draft) => changedFields(bodyOf(draftOf(stored)), bodyOf(draft)),
    check: ({ name, business_hours, assignment, answer_times }): Problems => ({
      ...(name.trim() === "" ? { name: t`Give the department a name.` } : {}),
      ...hoursProblems(business_hours),
      ...assignmentProblems(assignment),
      ...answerTimesProblems(answer_times),
    }),
    save: (changes) => api.patch("/admin/departments/{department_id}", { path, body: changes }),
    onSaved: (stored) => {
      onStored(stored);
      roster.refresh();
    },
  });
  const remove = async () => {
    await api.delete("/admin/departments/{department_id}", { path });
    roster.refresh();
    navigate(DEPARTMENTS_ROUTE, true);
    toast(t`${department.name} is deleted.`);
  };
  return (
    <div class="detail-page">
      <DetailHeader name={department.name} list={LIST} form={form.buttons} />
      <div class="detail-settings scroll">
        <RecordForm form={form}>
          <FormSection title={t`General`}>
            <TextField {...form.text("name")} label={t`Name`} input={NAME_INPUT} />
            <ChoiceList
              id="agent_ids"
              label={t`Agents`}
              help={t`They see the chats that are offered or transferred to the department.`}
              options={agents.map(({ agent_id, name }) => ({ id: agent_id, name }))}
              chosen={form.draft.agent_ids}
              problem={form.problems["agent_ids"]}
              onChange={(agent_ids) => form.change({ agent_ids: agent_ids.sort((a, b) => a - b) })}
            />
            {(known.length > 0 || form.draft.bot_id !== null) && (
              <SelectField
                id="bot_id"
                label={t`Bot that answers first`}
                help={t`In chats that visitors open in this department.`}
                problem={form.problems["bot_id"]}
                value={form.draft.bot_id ?? ""}
                options={[
                  { value: "", label: t`The channel's bot, if it has one` },
                  ...known.map(({ bot_id, name }) => ({ value: bot_id, label: name })),
                ]}
                onChange={(bot_id) => form.change({ bot_id: bot_id === "" ? null : bot_id })}
              />
            )}
          </FormSection>
          <FormSection title={t`Assignment and answer times`}>
            <AssignmentFields
              assignment={form.draft.assignment}
              label={t`Assign the chats of the department in another way`}
              help={t`Only in an account that assigns chats or limits the chats of agents.`}
              hasCapacity={false}
              problems={form.problems}
              onChange={(assignment) => form.change({ assignment })}
            />
            <AnswerTimesFields
              times={form.draft.answer_times}
              label={t`Other time limits for answers`}
              help={t`Only in an account that has time limits.`}
              problems={form.problems}
              onChange={(answer_times) => form.change({ answer_times })}
            />
          </FormSection>
          <FormSection title={t`Business hours`}>
            <BusinessHoursFields
              hours={form.draft.business_hours}
              stored={department.business_hours}
              withoutHours={t`In chats of the department. Without them, the hours of the account apply.`}
              problems={form.problems}
              onChange={(business_hours) => form.change({ business_hours })}
            />
          </FormSection>
        </RecordForm>
        <DeleteByName
          thing={t`the department`}
          name={department.name}
          id={department.department_id}
          effect={t`Its waiting chats are offered to the agents of their channels again.`}
          remove={remove}
        />
      </div>
    </div>
  );
}
