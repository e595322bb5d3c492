/* The list of the account's departments. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Department } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { NAME_INPUT, TextField } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { TableHead } from "../../ui/table-head";
import { compareNames } from "../../ui/words";
import { NewRecordForm, useNewRecordForm } from "../admin/draft-form";
import { EmptyList, ListPage, LoadedPage } from "../admin/list-page";
import { useLoaded } from "../admin/use-loaded";
import type { Problems } from "../admin/use-settings-form";
import { hrefOf, navigate } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { departmentRoute } from "../state/page/page-routes";
import { t } from "../../texts/translate";

export function DepartmentsPage({ tabs }: { tabs: ComponentChildren }) {
  const { api } = useWorkspace();
  const [searchText, setSearchText] = useState("");
  const [isAdding, setAdding] = useState(false);
  const loaded = useLoaded(async () => {
    const [{ departments }, { agents }] = await Promise.all([api.get("/admin/departments"), api.get("/admin/agents")]);
    const names = new Map(agents.map(({ agent_id, name }) => [agent_id, name]));
    return { departments: [...departments].sort(compareNames), names };
  });
  const searchTerm = searchText.trim().toLowerCase();
  return (
    <ListPage
      title={t`Team`}
      tabs={tabs}
      search={{ label: t`Search departments`, placeholder: t`Name`, text: searchText, onInput: setSearchText }}
      action={{ label: t`Add a department`, icon: "plus", run: () => setAdding(true) }}
    >
      <LoadedPage loaded={loaded} what={t`The departments`}>
        {({ departments, names }) =>
          departments.length === 0 ? (
            <EmptyList
              icon="building-2"
              title={t`There are no departments yet`}
              text={t`Chats can be offered and transferred to all agents of a department.`}
            />
          ) : (
            <DepartmentTable
              departments={departments.filter(({ name }) => name.toLowerCase().includes(searchTerm))}
              names={names}
            />
          )
        }
      </LoadedPage>
      {isAdding && <AddDepartmentDialog onClose={() => setAdding(false)} />}
    </ListPage>
  );
}

interface DepartmentTableProps {
  departments: readonly Department[];
  names: ReadonlyMap<number, string>;
}

function DepartmentTable({ departments, names }: DepartmentTableProps) {
  if (departments.length === 0) return <EmptyList icon="building-2" title={t`No department found`} />;
  const memberNames = ({ agent_ids }: Department) => agent_ids.flatMap((id) => names.get(id) ?? []).join(", ");
  return (
    <table>
      <TableHead columns={[t`Name`, t`Agents`]} />
      <tbody>
        {departments.map((department) => (
          <tr key={department.department_id}>
            <td>
              <a class="person" href={hrefOf(departmentRoute(department.department_id))}>
                <Icon name="building-2" />
                <span class="clip" dir="auto">
                  {department.name}
                </span>
              </a>
            </td>
            <td class="rest">
              <div class="clip" dir="auto">
                {memberNames(department) || t`Nobody`}
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Asks for the name of a new department, and opens its page. */
function AddDepartmentDialog({ onClose }: { onClose: () => void }) {
  const { api, roster } = useWorkspace();
  const form = useNewRecordForm({
    fields: ["name"],
    initial: () => ({ name: "" }),
    check: ({ name }): Problems => (name.trim() === "" ? { name: t`Give the department a name.` } : {}),
    create: ({ name }) => api.post("/admin/departments", { body: { name: name.trim() } }),
    onCreated: ({ department_id }) => {
      roster.refresh();
      onClose();
      navigate(departmentRoute(department_id));
    },
  });
  return (
    <Dialog title={t`Add a department`} onClose={onClose}>
      <NewRecordForm form={form} label={t`Add`} busyLabel={t`Adding…`} onCancel={onClose}>
        <TextField
          {...form.text("name")}
          label={t`Name`}
          help={t`You choose its agents on its page.`}
          input={{ ...NAME_INPUT, "data-autofocus": true }}
        />
      </NewRecordForm>
    </Dialog>
  );
}
