/* The addresses of receivers: the servers of integrators and the webhooks. */

import { t } from "../../texts/translate";

/** What GET /admin/settings says about the stack. Undefined until it is loaded. */
type ReceiverRules = { allows_http_receivers: boolean } | undefined;

/** Says which addresses the stack accepts. */
export function receiverUrlHelp(rules: ReceiverRules): string {
  if (rules === undefined) return "";
  return rules.allows_http_receivers ? t`It may start with https:// or http://.` : t`It must start with https://.`;
}

/** Says where the messages of an API channel are sent (specification, A-3). */
export function integratorUrlHelp(integratorUrl: string, appendsChannelId: boolean): string {
  const sentence = t`Agents' messages are sent there`;
  if (integratorUrl.includes("{channel_id}")) return t`${sentence}, with the channel's id in place of {channel_id}.`;
  return appendsChannelId ? t`${sentence}, with the channel's id appended to the path.` : `${sentence}.`;
}

/** Returns what is wrong with an address that is being typed. The service checks the rest. */
export function receiverUrlProblem(url: string, rules: ReceiverRules): string | undefined {
  const isHttps = /^https:\/\/[^\s/]+/i.test(url.trim());
  const isHttp = /^http:\/\/[^\s/]+/i.test(url.trim());
  if (isHttps || (isHttp && rules?.allows_http_receivers !== false)) return undefined;
  const allowed = rules?.allows_http_receivers === true ? t`https:// or http://` : "https://";
  return t`Enter an address that starts with ${allowed}.`;
}

export const PULL_LABEL = t`Your program fetches the messages`;
export const PULL_HELP = t`For servers that cannot be reached from outside: nothing is sent, and your program asks for messages (GET …/events).`;
