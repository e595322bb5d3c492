import { useState } from "preact/hooks";
import type { Agent } from "../../api/types";
import { Dialog, SubmitButtons } from "../../ui/dialog";
import { Segments, TextField } from "../../ui/form-fields";
import { FormProblem } from "../admin/detail-header";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useRequestGuard } from "../admin/use-leave-guard";
import { useSettingsForm } from "../admin/use-settings-form";
import { useWorkspace } from "../workspace-context";
import { OneTimeSwitch, PasswordField, passwordProblem } from "./password-field";
import { randomPassword } from "./password";
import { ROLE_HELP, ROLES } from "./roles";

interface AddAgentDialogProps {
  onAdded: (agent: Agent) => void;
  onClose: () => void;
}

export function AddAgentDialog({ onAdded, onClose }: AddAgentDialogProps) {
  const { api } = useWorkspace();
  const { form, problems, isBusy, send } = useSettingsForm(["name", "email", "password"]);
  useRequestGuard(isBusy);
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState(randomPassword);
  const [isOneTime, setOneTime] = useState(true);
  const [role, setRole] = useState<Agent["role"]>("agent");
  const [added, setAdded] = useState<Agent>();

  const submit = async (event: Event) => {
    event.preventDefault();
    const found = {
      ...(name.trim() === "" ? { name: "Enter a name." } : {}),
      ...(/^\S+@\S+$/.test(email.trim()) ? {} : { email: "Enter an e-mail address." }),
      ...passwordProblem(password),
    };
    const body = { name: name.trim(), email: email.trim(), password, must_change_password: isOneTime, role };
    const agent = await send(found, () => api.post("/admin/agents", { body }));
    if (agent === undefined) return;
    onAdded(agent);
    setAdded(agent);
  };
  if (added !== undefined)
    return (
      <ShownOnceDialog key="added" title={`${added.name} is added`} onClose={onClose}>
        <p class="quiet-text">
          {added.name} signs in with {added.email} and this password, which is shown only now.
        </p>
        <CopyField label="Password" name="the password" text={password} />
      </ShownOnceDialog>
    );
  return (
    <Dialog key="question" title="Add an agent" isLocked={isBusy} onClose={onClose}>
      <form ref={form} class="body scroll" noValidate onSubmit={(event) => void submit(event)}>
        <FormProblem text={problems[""]} />
        <TextField
          id="name"
          label="Name"
          help="Visitors see it beside the agent's messages."
          problem={problems["name"]}
          value={name}
          onInput={setName}
          input={{ maxLength: 255, dir: "auto", "data-autofocus": true }}
        />
        <TextField
          id="email"
          label="E-mail"
          problem={problems["email"]}
          value={email}
          onInput={setEmail}
          input={{ type: "email", spellcheck: false, dir: "ltr", maxLength: 254 }}
        />
        <PasswordField password={password} problem={problems["password"]} onInput={setPassword} />
        <OneTimeSwitch isOn={isOneTime} onChange={setOneTime} />
        <div class="field">
          <Segments name="role" label="Role" value={role} options={ROLES} onChange={setRole} />
          <span class="help">{ROLE_HELP[role]}</span>
        </div>
        <SubmitButtons isBusy={isBusy} label="Add" busyLabel="Adding…" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
