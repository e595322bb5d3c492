import type { Role } from "../../api/types";

export const ROLES = [
  { value: "agent", label: "Agent" },
  { value: "admin", label: "Admin" },
] as const;

export const ROLE_HELP: Record<Role, string> = {
  agent: "Answers chats that are offered to them.",
  admin: "Sees all chats, and manages channels, bots, webhooks, the team and the settings.",
};
