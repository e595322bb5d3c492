/* The page of one agent. */

import { useState } from "preact/hooks";
import type { Agent } from "../../api/types";
import { Avatar } from "../../ui/avatar";
import { Dialog } from "../../ui/dialog";
import { EMAIL_INPUT, NAME_INPUT, NUMBER_INPUT, TextField, URL_INPUT } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { fullTime } from "../../ui/time";
import { toast } from "../../ui/toast";
import { DeleteByName } from "../admin/delete-by-name";
import { DetailHeader, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { NewRecordForm, RecordForm, useNewRecordForm, useRecordForm, type DraftForm } from "../admin/draft-form";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useRequestGuard } from "../admin/use-leave-guard";
import { useLoaded } from "../admin/use-loaded";
import { AGENTS_ROUTE } from "../state/page/page-routes";
import { navigate } from "../state/page/route";
import { overlay } from "../state/list/view-state";
import { useWorkspace } from "../workspace-context";
import { changesOf, draftOf, problemsOfDraft, type AgentDraft } from "./agent-draft";
import { OneTimeSwitch, PasswordField, passwordProblem, randomPassword } from "./password-field";
import { PresenceText } from "./presence-text";
import { RoleField } from "./role-field";
import { t } from "../../texts/translate";

const LIST = { name: t`All agents`, route: AGENTS_ROUTE };

export function AgentPage({ id }: { id: number }) {
  const workspace = useWorkspace();
  const loaded = useLoaded(async (): Promise<Agent> => {
    workspace.roster.refresh();
    return workspace.api.get("/admin/agents/{agent_id}", { path: { agent_id: id } });
  });
  return (
    <DetailPage loaded={loaded} what={t`The agent`} list={LIST}>
      {(agent) => <AgentForm agent={agent} onStored={loaded.setValue} />}
    </DetailPage>
  );
}

function AgentForm({ agent, onStored }: { agent: Agent; onStored: (agent: Agent) => void }) {
  const { api, me, roster } = useWorkspace();
  const isMe = agent.agent_id === me.id;
  const path = { agent_id: agent.agent_id };
  const form = useRecordForm({
    stored: agent,
    fields: ["name", "email", "phone", "photo", "role", "capacity"],
    draftOf,
    changesOf,
    check: problemsOfDraft,
    save: (changes) => api.patch("/admin/agents/{agent_id}", { path, body: changes }),
    onSaved: (stored) => {
      onStored(stored);
      roster.refresh();
    },
    savedText: ({ role, email }) =>
      role !== undefined || email !== undefined ? t`Saved. The agent has to sign in again.` : t`Saved.`,
  });
  const remove = async () => {
    await api.delete("/admin/agents/{agent_id}", { path });
    roster.refresh();
    navigate(AGENTS_ROUTE, true);
    toast(t`${agent.name} is deleted.`);
  };
  return (
    <div class="detail-page">
      <DetailHeader name={agent.name} list={LIST} form={form.buttons}>
        <PresenceText agentId={agent.agent_id} />
      </DetailHeader>
      <div class="detail-settings scroll">
        <RecordForm form={form}>
          <ProfileFields agent={agent} isMe={isMe} form={form} />
        </RecordForm>
        <PasswordSection agent={agent} isMe={isMe} />
        {!isMe && (
          <DeleteByName
            thing={t`the agent`}
            name={agent.name}
            id={agent.agent_id}
            effect={t`The agent's open chats wait for another agent. What the agent wrote is kept.`}
            remove={remove}
          />
        )}
      </div>
    </div>
  );
}

function ProfileFields({ agent, isMe, form }: { agent: Agent; isMe: boolean; form: DraftForm<AgentDraft> }) {
  const { name, photo, role } = form.draft;
  return (
    <FormSection title={t`Profile`}>
      <TextField
        {...form.text("name")}
        label={t`Name`}
        help={t`Visitors see it beside the agent's messages.`}
        input={NAME_INPUT}
      />
      <TextField
        {...form.text("email")}
        label={t`E-mail`}
        help={t`The agent signs in with it. A change ends the agent's sessions.`}
        input={EMAIL_INPUT}
      />
      <TextField
        {...form.text("phone")}
        label={t`Phone (optional)`}
        input={{ type: "tel", dir: "ltr", maxLength: 255 }}
      />
      <div class="with-photo">
        <TextField
          {...form.text("photo")}
          label={t`Address of a photo (optional)`}
          input={{ ...URL_INPUT, placeholder: "https://" }}
        />
        <Avatar id={agent.agent_id} name={name} photo={photo} />
      </div>
      {isMe ? (
        <p class="quiet-text">{t`You are an admin. Only another admin can change your role.`}</p>
      ) : (
        <RoleField
          role={role}
          help={t`A change ends the agent's sessions.`}
          onChange={(role) => form.change({ role })}
        />
      )}
      <TextField
        {...form.text("capacity")}
        label={t`Chats at a time (optional)`}
        help={t`If the account limits the chats of agents. Blank: the number of the account.`}
        input={NUMBER_INPUT}
      />
      <p class="quiet-text">{t`Added on ${fullTime(agent.created_at)}.`}</p>
    </FormSection>
  );
}

function PasswordSection({ agent, isMe }: { agent: Agent; isMe: boolean }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <FormSection title={t`Password`}>
      <p class="quiet-text">
        {isMe ? t`A new password ends your other sessions.` : t`A new password ends all sessions of the agent.`}
      </p>
      <div>
        <button
          type="button"
          class="btn line"
          onClick={() => (isMe ? (overlay.value = { kind: "own-account" }) : setAsking(true))}
        >
          <Icon name="lock" />
          {t`Set a new password…`}
        </button>
      </div>
      {isAsking && <PasswordDialog agent={agent} onClose={() => setAsking(false)} />}
    </FormSection>
  );
}

function PasswordDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const { api } = useWorkspace();
  const [isStored, setStored] = useState(false);
  const form = useNewRecordForm({
    fields: ["password"],
    initial: () => ({ password: randomPassword(), must_change_password: true }),
    check: ({ password }) => passwordProblem(password),
    create: (draft) => api.patch("/admin/agents/{agent_id}", { path: { agent_id: agent.agent_id }, body: draft }),
    onCreated: () => setStored(true),
  });
  useRequestGuard(form.isBusy);
  if (isStored)
    return (
      <ShownOnceDialog key="stored" title={t`The password is set`} onClose={onClose}>
        <p class="quiet-text">{t`It is shown only now. The earlier password and all sessions have ended.`}</p>
        <CopyField label={t`Password`} name={t`the password`} text={form.draft.password} />
      </ShownOnceDialog>
    );
  return (
    <Dialog key="question" title={t`A new password for ${agent.name}`} isLocked={form.isBusy} onClose={onClose}>
      <NewRecordForm form={form} label={t`Set the password`} busyLabel={t`Setting…`} onCancel={onClose}>
        <PasswordField {...form.text("password")} />
        <OneTimeSwitch {...form.toggle("must_change_password")} />
      </NewRecordForm>
    </Dialog>
  );
}
