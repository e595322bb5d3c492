/* What the audit log shows: its filter, and the words for its rows. */

import type { AuditedKind, AuditEntry, AuditQuery } from "../../api/types";
import {
  agentRoute,
  botRoute,
  channelRoute,
  departmentRoute,
  SETTINGS_ROUTE,
  TELEPHONY_ROUTE,
  webhookRoute,
} from "../state/page/page-routes";
import type { Route } from "../state/page/route";
import { t } from "../../texts/translate";

export type AuditPeriod = "any" | "day" | "week" | "month";

export interface AuditFilter {
  kind: AuditedKind | "";
  /** The number of an agent. Empty for all agents. */
  agent: string;
  period: AuditPeriod;
}

export const INITIAL_AUDIT_FILTER: AuditFilter = { kind: "", agent: "", period: "any" };

const PERIOD_SECONDS = { day: 86_400, week: 604_800, month: 2_592_000 } as const;

export const auditQuery = ({ kind, agent, period }: AuditFilter, now: number): AuditQuery => ({
  ...(kind === "" ? {} : { kind }),
  ...(agent === "" ? {} : { agent_id: Number(agent) }),
  ...(period === "any" ? {} : { from: now - PERIOD_SECONDS[period] }),
});

export const KIND_NAMES: Record<AuditedKind, string> = {
  settings: t`Settings`,
  webhook: t`Webhook`,
  channel: t`Channel`,
  bot: t`Bot`,
  agent: t`Agent`,
  department: t`Department`,
  canned_reply: t`Canned reply`,
  telephony: t`Telephony`,
  session: t`Sign-in`,
  visitor: t`Visitor`,
  chats: t`Chats`,
  delivery: t`Deliveries`,
  call_balance: t`Call balance`,
  account: t`Account`,
};

const ACTION_NAMES: Record<AuditEntry["action"], string> = {
  created: t`created`,
  changed: t`changed`,
  deleted: t`deleted`,
  rotated: t`secret replaced`,
  signed_in: t`accepted`,
  sign_in_refused: t`refused`,
  exported: t`exported`,
  erased: t`erased`,
  replayed: t`sent again`,
  tested: t`tested`,
  blacklisted: t`blacklisted`,
  unblacklisted: t`taken off the blacklist`,
  merged: t`merged`,
  separated: t`separated`,
  topped_up: t`topped up`,
  suspended: t`suspended`,
  resumed: t`resumed`,
};

/** Returns what was done, for example "Channel changed". */
export const actionText = ({ kind, action }: Pick<AuditEntry, "kind" | "action">) =>
  t`${KIND_NAMES[kind] ?? kind} ${ACTION_NAMES[action] ?? action}`;

/** Returns the route of the page that shows the changed resource, or undefined if there is no such page. */
export function resourceRoute({ kind, action, resource_id: id }: AuditEntry): Route | undefined {
  if (action === "deleted") return undefined;
  switch (kind) {
    case "settings":
      return SETTINGS_ROUTE;
    case "webhook":
      return webhookRoute(id);
    case "channel":
      return channelRoute(id);
    case "bot":
      return botRoute(id);
    case "agent":
      return agentRoute(id);
    case "department":
      return departmentRoute(id);
    case "telephony":
      return TELEPHONY_ROUTE;
    case "session":
      return agentRoute(id);
    case "canned_reply":
    case "visitor":
    case "chats":
    case "delivery":
    case "call_balance":
    case "account":
      return undefined;
  }
}

/** What an entry without an id is about. */
const SEVERAL: Partial<Record<AuditedKind, string>> = {
  account: t`The account`,
  chats: t`Closed chats`,
  delivery: t`Failed deliveries`,
};

/** Returns the name of what was changed. A webhook has no name, so its address is taken from `webhooks`, which contains
 * the addresses by id. A resource that exists only once in an account has neither name nor id. */
export function resourceName(
  { kind, resource_name, resource_id }: AuditEntry,
  webhooks: ReadonlyMap<string, string> | undefined,
): string {
  if (resource_name !== null) return resource_name;
  if (resource_id === "") return SEVERAL[kind] ?? t`${KIND_NAMES[kind] ?? kind} of the account`;
  if (kind !== "webhook" || webhooks === undefined) return resource_id;
  return webhooks.get(resource_id) ?? t`A deleted webhook`;
}

/** The words for fields whose name in the API is not a word for admins. */
const FIELD_WORDS: Record<string, string> = {
  agent_ids: t`agents`,
  agent_wait_seconds: t`time to accept a chat`,
  answer_within: t`time limit for answers`,
  channel_ids: t`channels`,
  department_ids: t`departments`,
  from: t`start`,
  idle_close: t`closing of idle chats`,
  integrator_url: t`address of your server`,
  limits: t`limits`,
  pull: t`fetching of messages`,
  quiet_max_ms: t`longest wait for a visitor`,
  quiet_ms: t`wait for the end of writing`,
  retention_days: t`retention`,
  rules: t`trigger rules`,
  safe_urls: t`allowed domains`,
  to: t`end`,
  url: t`address`,
  utc_offset: t`offset from UTC`,
  webhook_url: t`address of the webhook`,
};

/** Returns the name of a changed field in words, for example "limits: bot requests" for `limits.bot_requests`. */
export const fieldText = (field: string) =>
  field
    .split(".")
    .map((name) => FIELD_WORDS[name] ?? name.replaceAll("_", " "))
    .join(": ");
