import type { Role } from "../../api/types";
import { Segments } from "../../ui/form-fields";
import { t } from "../../texts/translate";

const ROLES = [
  { value: "agent", label: t`Agent` },
  { value: "admin", label: t`Admin` },
] as const;

const ROLE_HELP: Record<Role, string> = {
  agent: t`Answers chats that are offered to them.`,
  admin: t`Sees all chats, and manages channels, bots, webhooks, the team and the settings.`,
};

interface RoleFieldProps {
  role: Role;
  /** What else the admin should know. */
  help?: string;
  onChange: (role: Role) => void;
}

/** Chooses whether an agent is an admin. */
export const RoleField = ({ role, help = "", onChange }: RoleFieldProps) => (
  <div class="field">
    <Segments name="role" label={t`Role`} value={role} options={ROLES} onChange={onChange} />
    <span class="help">{`${ROLE_HELP[role]} ${help}`.trim()}</span>
  </div>
);
