/* Which addresses from messages and settings the widget uses. */

/** Returns the address if it is an `http:`, `https:` or `mailto:` URL, and otherwise undefined. */
export function safeLink(address: string | null | undefined): string | undefined {
  if (!address) return undefined;
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(address).protocol) ? address : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the address if it is an `http:` or `https:` URL, and otherwise undefined. */
export const safeMedia = (address: string | null | undefined): string | undefined =>
  address && /^https?:\/\//i.test(address) ? safeLink(address) : undefined;
