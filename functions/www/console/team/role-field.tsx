import type { Role } from "../../api/types";
import { Segments } from "../../ui/form-fields";

const ROLES = [
  { value: "agent", label: "Agent" },
  { value: "admin", label: "Admin" },
] as const;

const ROLE_HELP: Record<Role, string> = {
  agent: "Answers chats that are offered to them.",
  admin: "Sees all chats, and manages channels, bots, webhooks, the team and the settings.",
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
    <Segments name="role" label="Role" value={role} options={ROLES} onChange={onChange} />
    <span class="help">{`${ROLE_HELP[role]} ${help}`.trim()}</span>
  </div>
);
