/* The page of one agent. */

import { useState } from "preact/hooks";
import type { Agent, AgentChanges } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { Dialog, SubmitButtons } from "../../ui/dialog";
import { Segments, TextField, URL_INPUT } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { fullTime } from "../../ui/time";
import { toast } from "../../ui/toast";
import { DeleteByName } from "../admin/delete-by-name";
import { DETAIL_FORM_ID, DetailHeader, FormProblem, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { differences } from "../admin/form-changes";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useDraft } from "../admin/use-draft";
import { useLeaveGuard, useRequestGuard } from "../admin/use-leave-guard";
import { useLoaded } from "../admin/use-loaded";
import { useSettingsForm } from "../admin/use-settings-form";
import { navigate } from "../state/route";
import { overlay } from "../state/view-state";
import { useWorkspace } from "../workspace-context";
import { randomPassword } from "./password";
import { OneTimeSwitch, PasswordField, passwordProblem } from "./password-field";
import { phoneProblem } from "./phone-number";
import { PresenceText } from "./presence-text";
import { ROLE_HELP, ROLES } from "./roles";
import { AGENTS_ROUTE } from "../state/page-routes";

const LIST = { name: "All agents", route: AGENTS_ROUTE };
const FIELD_NAMES = ["name", "email", "phone", "photo", "role"];

export function AgentPage({ id }: { id: number }) {
  const workspace = useWorkspace();
  const loaded = useLoaded(async () => {
    workspace.roster.refresh();
    return workspace.api.get("/admin/agents/{agent_id}", { path: { agent_id: id } });
  });
  return (
    <DetailPage loaded={loaded} what="The agent" list={LIST}>
      {(agent) => <AgentForm agent={agent} onStored={loaded.setValue} />}
    </DetailPage>
  );
}

type AgentDraft = Record<"name" | "email" | "phone" | "photo", string> & Pick<Agent, "role">;

const draftOf = ({ name, email, phone, photo, role }: Agent): AgentDraft => ({
  name,
  email,
  phone: phone ?? "",
  photo: photo ?? "",
  role,
});
/** Returns a draft without spaces around its texts. */
const trimmed = ({ name, email, phone, photo, role }: AgentDraft): AgentDraft => ({
  name: name.trim(),
  email: email.trim(),
  phone: phone.trim(),
  photo: photo.trim(),
  role,
});

function AgentForm({ agent, onStored }: { agent: Agent; onStored: (agent: Agent) => void }) {
  const workspace = useWorkspace();
  const { api, me } = workspace;
  const { form, problems, setProblems, isBusy, send } = useSettingsForm(FIELD_NAMES);
  const { draft, setDraft, change, showStored } = useDraft(() => draftOf(agent));
  const changes: AgentChanges = differences(draftOf(agent), trimmed(draft));
  const hasChanges = Object.keys(changes).length > 0;
  const isMe = agent.agent_id === me.id;
  const path = { agent_id: agent.agent_id };
  useLeaveGuard(hasChanges);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (!hasChanges) return;
    const phone = phoneProblem(draft.phone);
    const found = {
      ...(draft.name.trim() === "" ? { name: "Enter a name." } : {}),
      ...(/^\S+@\S+$/.test(draft.email.trim()) ? {} : { email: "Enter an e-mail address." }),
      ...(phone === undefined ? {} : { phone }),
    };
    const stored = await send(found, () => api.patch("/admin/agents/{agent_id}", { path, body: changes }));
    if (stored === undefined) return;
    onStored(stored);
    showStored(draftOf(stored));
    workspace.roster.refresh();
    const endsSessions = changes.role !== undefined || changes.email !== undefined;
    toast(endsSessions ? "Saved. The agent has to sign in again." : "Saved.");
  };
  const discard = () => {
    setDraft(draftOf(agent));
    setProblems({});
  };
  const remove = async () => {
    await api.delete("/admin/agents/{agent_id}", { path });
    workspace.roster.refresh();
    navigate(AGENTS_ROUTE, true);
    toast(`${agent.name} is deleted.`);
  };
  return (
    <div class="detail-page">
      <DetailHeader name={agent.name} list={LIST} form={{ hasChanges, isBusy, onDiscard: discard }}>
        <PresenceText agentId={agent.agent_id} />
      </DetailHeader>
      <div class="detail-settings scroll">
        <form ref={form} id={DETAIL_FORM_ID} noValidate onSubmit={(event) => void submit(event)}>
          <FormProblem text={problems[""]} />
          <FormSection title="Profile">
            <TextField
              id="name"
              label="Name"
              help="Visitors see it beside the agent's messages."
              problem={problems["name"]}
              value={draft.name}
              onInput={(name) => change({ name })}
              input={{ maxLength: 255, dir: "auto" }}
            />
            <TextField
              id="email"
              label="E-mail"
              help="The agent signs in with it. A change ends the agent's sessions."
              problem={problems["email"]}
              value={draft.email}
              onInput={(email) => change({ email })}
              input={{ type: "email", spellcheck: false, dir: "ltr", maxLength: 254 }}
            />
            <TextField
              id="phone"
              label="Phone (optional)"
              problem={problems["phone"]}
              value={draft.phone}
              onInput={(phone) => change({ phone })}
              input={{ type: "tel", dir: "ltr", maxLength: 255 }}
            />
            <div class="with-photo">
              <TextField
                id="photo"
                label="Address of a photo (optional)"
                problem={problems["photo"]}
                value={draft.photo}
                onInput={(photo) => change({ photo })}
                input={{ ...URL_INPUT, placeholder: "https://" }}
              />
              <Avatar id={agent.agent_id} name={draft.name} photo={draft.photo} />
            </div>
            {isMe ? (
              <p class="quiet-text">You are an admin. Only another admin can change your role.</p>
            ) : (
              <div class="field">
                <Segments
                  name="role"
                  label="Role"
                  value={draft.role}
                  options={ROLES}
                  onChange={(role) => change({ role })}
                />
                <span class="help">{ROLE_HELP[draft.role]} A change ends the agent's sessions.</span>
              </div>
            )}
            <p class="quiet-text">Added on {fullTime(agent.created_at)}.</p>
          </FormSection>
        </form>
        <PasswordSection agent={agent} isMe={isMe} />
        {!isMe && (
          <DeleteByName
            thing="the agent"
            name={agent.name}
            id={agent.agent_id}
            effect="The agent's open chats wait for another agent. What the agent wrote is kept."
            remove={remove}
          />
        )}
      </div>
    </div>
  );
}

function PasswordSection({ agent, isMe }: { agent: Agent; isMe: boolean }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <FormSection title="Password">
      <p class="quiet-text">A new password ends {isMe ? "your other sessions" : "all sessions of the agent"}.</p>
      <div>
        <button
          type="button"
          class="btn line"
          onClick={() => (isMe ? (overlay.value = { kind: "own-account" }) : setAsking(true))}
        >
          <Icon name="lock" />
          Set a new password…
        </button>
      </div>
      {isAsking && <PasswordDialog agent={agent} onClose={() => setAsking(false)} />}
    </FormSection>
  );
}

function PasswordDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [isStored, setStored] = useState(false);
  const [password, setPassword] = useState(randomPassword);
  const [isOneTime, setOneTime] = useState(true);
  const form = usePasswordForm(agent.agent_id, password, isOneTime, () => setStored(true));
  if (isStored)
    return (
      <ShownOnceDialog key="stored" title="The password is set" onClose={onClose}>
        <p class="quiet-text">It is shown only now. The earlier password and all sessions have ended.</p>
        <CopyField label="Password" name="the password" text={password} />
      </ShownOnceDialog>
    );
  return (
    <Dialog key="question" title={`A new password for ${agent.name}`} isLocked={form.isBusy} onClose={onClose}>
      <form ref={form.element} class="body" noValidate onSubmit={form.submit}>
        <FormProblem text={form.problems[""]} />
        <PasswordField password={password} problem={form.problems["password"]} onInput={setPassword} />
        <OneTimeSwitch isOn={isOneTime} onChange={setOneTime} />
        <SubmitButtons isBusy={form.isBusy} label="Set the password" busyLabel="Setting…" onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** The state of a form that sets an agent's password. */
function usePasswordForm(agentId: number, password: string, isOneTime: boolean, onStored: () => void) {
  const { api } = useWorkspace();
  const { form: element, problems, isBusy, send } = useSettingsForm(["password"]);
  useRequestGuard(isBusy);
  const store = async () => {
    const stored = await send(passwordProblem(password), () =>
      api.patch("/admin/agents/{agent_id}", {
        path: { agent_id: agentId },
        body: { password, must_change_password: isOneTime },
      }),
    );
    if (stored !== undefined) onStored();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void store();
  };
  return { element, problems, isBusy, submit };
}
