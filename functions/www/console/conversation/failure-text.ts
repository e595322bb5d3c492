import type { Delivery } from "../../api/types";

/** How the service's own messages about a failed delivery begin. Other messages are those of the receiver. */
const OWN_WORDS = "Not delivered: ";

/** Returns why a delivery failed: the service's own words, or those of the receiver as a quotation. */
export function failureReason({ error }: Pick<Delivery, "error">): { text: string; isQuoted: boolean } | undefined {
  if (error === undefined) return undefined;
  const { message } = error;
  const isOwn = message.startsWith(OWN_WORDS);
  return { text: isOwn ? message.slice(OWN_WORDS.length) : message, isQuoted: !isOwn };
}
