import { useState } from "preact/hooks";
import type { Agent } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { EMAIL_INPUT, NAME_INPUT, TextField } from "../../ui/form-fields";
import { NewRecordForm, useNewRecordForm } from "../admin/draft-form";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useRequestGuard } from "../admin/use-leave-guard";
import { useWorkspace } from "../workspace-context";
import { OneTimeSwitch, PasswordField, passwordProblem, randomPassword } from "./password-field";
import { RoleField } from "./role-field";
import { t } from "../../texts/translate";

interface AddAgentDialogProps {
  onAdded: (agent: Agent) => void;
  onClose: () => void;
}

interface NewAgent {
  name: string;
  email: string;
  password: string;
  must_change_password: boolean;
  role: Agent["role"];
}

const newAgent = (): NewAgent => ({
  name: "",
  email: "",
  password: randomPassword(),
  must_change_password: true,
  role: "agent",
});

export function AddAgentDialog({ onAdded, onClose }: AddAgentDialogProps) {
  const { api } = useWorkspace();
  const [added, setAdded] = useState<Agent>();
  const form = useNewRecordForm({
    fields: ["name", "email", "password"],
    initial: newAgent,
    check: ({ name, email, password }) => ({
      ...(name.trim() === "" ? { name: t`Enter a name.` } : {}),
      ...(/^\S+@\S+$/.test(email.trim()) ? {} : { email: t`Enter an e-mail address.` }),
      ...passwordProblem(password),
    }),
    create: (draft) =>
      api.post("/admin/agents", { body: { ...draft, name: draft.name.trim(), email: draft.email.trim() } }),
    onCreated: (agent) => {
      onAdded(agent);
      setAdded(agent);
    },
  });
  useRequestGuard(form.isBusy);
  if (added !== undefined)
    return (
      <ShownOnceDialog key="added" title={t`${added.name} is added`} onClose={onClose}>
        <p class="quiet-text">
          {t`${added.name} signs in with ${added.email} and this password, which is shown only now.`}
        </p>
        <CopyField label={t`Password`} name={t`the password`} text={form.draft.password} />
      </ShownOnceDialog>
    );
  return (
    <Dialog key="question" title={t`Add an agent`} isLocked={form.isBusy} onClose={onClose}>
      <NewRecordForm form={form} label={t`Add`} busyLabel={t`Adding…`} onCancel={onClose}>
        <TextField
          {...form.text("name")}
          label={t`Name`}
          help={t`Visitors see it beside the agent's messages.`}
          input={{ ...NAME_INPUT, "data-autofocus": true }}
        />
        <TextField {...form.text("email")} label={t`E-mail`} input={EMAIL_INPUT} />
        <PasswordField {...form.text("password")} />
        <OneTimeSwitch {...form.toggle("must_change_password")} />
        <RoleField role={form.draft.role} onChange={(role) => form.change({ role })} />
      </NewRecordForm>
    </Dialog>
  );
}
