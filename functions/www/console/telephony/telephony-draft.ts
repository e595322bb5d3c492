/* The telephony settings of the account while an admin edits them. */

import type { Telephony, TelephonyChanges } from "../../api/types";
import { language, plural, t } from "../../texts/translate";

type Provider = "http" | "twilio";
type Stored = Telephony["telephony"];

export interface TelephonyDraft {
  provider: Provider;
  url: string;
  /** Empty to keep the stored secret, which the service never returns. */
  signing_secret: string;
  account_sid: string;
  /** Empty to keep the stored token. */
  auth_token: string;
  api_url: string;
  number: string;
  /** Empty to reject calls of unknown callers. */
  channel_id: string;
  record: boolean;
  /** Numbers as they are typed. */
  ring_seconds: string;
  max_minutes: string;
  callbacks_per_number: string;
  callbacks_per_day: string;
  /** Country codes as they are typed, with commas or spaces between them. Empty for the country of the number. */
  countries: string;
}

/** The settings that are whole numbers from 1, with their largest and default values. */
export const NUMBERS = {
  ring_seconds: { max: 120, default: 30 },
  max_minutes: { max: 240, default: 120 },
  callbacks_per_number: { max: 100, default: 5 },
  callbacks_per_day: { max: 100_000, default: 200 },
} as const;
const NUMBER_NAMES = ["ring_seconds", "max_minutes", "callbacks_per_number", "callbacks_per_day"] as const;

export function draftOf(stored: Stored): TelephonyDraft {
  return {
    provider: stored?.provider ?? "http",
    url: stored?.url ?? "",
    signing_secret: "",
    account_sid: stored?.account_sid ?? "",
    auth_token: "",
    api_url: stored?.api_url ?? "",
    number: stored?.number ?? "",
    channel_id: stored?.channel_id ?? "",
    record: stored?.record ?? false,
    ring_seconds: numberText(stored, "ring_seconds"),
    max_minutes: numberText(stored, "max_minutes"),
    callbacks_per_number: numberText(stored, "callbacks_per_number"),
    callbacks_per_day: numberText(stored, "callbacks_per_day"),
    countries: stored?.countries.join(", ") ?? "",
  };
}

function numberText(stored: Stored, name: keyof typeof NUMBERS): string {
  return String(stored?.[name] ?? NUMBERS[name].default);
}

function countryCodes(text: string): string[] {
  return text.toUpperCase().match(/[^\s,;]+/g) ?? [];
}

/** The fields that belong to a provider. */
const PROVIDER_FIELDS = {
  http: ["url", "signing_secret"],
  twilio: ["account_sid", "auth_token", "api_url"],
} as const;

/** Returns the body of the request that stores a draft: only what differs, so that concurrent changes to other settings
 * are preserved. Returns undefined if nothing differs. */
export function changesOf(stored: Stored, draft: TelephonyDraft): TelephonyChanges | undefined {
  const before = draftOf(stored);
  const isNew = stored === null || stored.provider !== draft.provider;
  const changes: TelephonyChanges = isNew ? { provider: draft.provider } : {};
  for (const name of PROVIDER_FIELDS[draft.provider]) {
    const value = draft[name].trim();
    if (value !== "" && (isNew || value !== before[name])) changes[name] = value;
  }
  // An empty API URL removes the stored one. The provider's other empty fields keep the stored values.
  if (!isNew && draft.api_url.trim() === "" && before.api_url !== "") changes.api_url = null;
  const number = draft.number.trim();
  if (number !== before.number) changes.number = number;
  if (draft.channel_id !== before.channel_id) changes.channel_id = draft.channel_id === "" ? null : draft.channel_id;
  if (draft.record !== before.record) changes.record = draft.record;
  const countries = countryCodes(draft.countries);
  if (countries.join() !== countryCodes(before.countries).join()) changes.countries = countries;
  for (const name of NUMBER_NAMES)
    if (draft[name].trim() !== before[name] || stored === null) changes[name] = Number(draft[name]);
  const isUntouched = stored === null && JSON.stringify(draft) === JSON.stringify(before);
  return isUntouched || Object.keys(changes).length === 0 ? undefined : changes;
}

export const DEFAULT_API_URL = "https://api.twilio.com/";

/** Returns Twilio's API URL as the service stores it, or the default URL if the text is empty. */
function normalizedApiUrl(text: string): string {
  const url = text.trim() || DEFAULT_API_URL;
  return URL.canParse(url) ? new URL(url).href : url;
}

/** Whether the stored token belongs to another Twilio account or API URL than the draft. The service does not send a
 * stored token to another account or URL, so it must be entered again. */
export function isTokenOutdated(stored: Stored, draft: TelephonyDraft): boolean {
  if (stored?.provider !== "twilio" || draft.provider !== "twilio") return false;
  const before = draftOf(stored);
  return (
    draft.account_sid.trim() !== before.account_sid ||
    normalizedApiUrl(draft.api_url) !== normalizedApiUrl(before.api_url)
  );
}

/** Returns the problems of a draft by the name of the field, for example a field that is missing or not a number. */
export function draftProblems(stored: Stored, draft: TelephonyDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  const isNew = stored === null || stored.provider !== draft.provider;
  const require = (name: keyof TelephonyDraft, text: string) => {
    if (String(draft[name]).trim() === "") problems[name] = text;
  };
  if (draft.provider === "http") {
    require("url", t`Enter the address of the gateway.`);
    if (isNew) require("signing_secret", t`Enter a secret, or create one.`);
  } else {
    require("account_sid", t`Enter the SID of the Twilio account.`);
    if (isNew) require("auth_token", t`Enter the token of the Twilio account.`);
    else if (isTokenOutdated(stored, draft)) require("auth_token", t`Enter the token again.`);
  }
  require("number", t`Enter your number with its country code.`);
  if (countryCodes(draft.countries).some((code) => !/^[A-Z]{2}$/.test(code)))
    problems["countries"] = t`Enter two-letter country codes, such as NL, BE.`;
  for (const name of NUMBER_NAMES) {
    const { max } = NUMBERS[name];
    const number = Number(draft[name]);
    if (!/^\d+$/.test(draft[name].trim()) || number < 1 || number > max)
      problems[name] = t`Enter a whole number from 1 to ${max.toLocaleString(language)}.`;
  }
  return problems;
}

/** Returns a new secret for a gateway: `whsec_` and the base64 of 32 random bytes. */
export function createSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** Returns a text that says how many minutes of calls are left. */
export function balanceText(minutes: number): string {
  if (minutes <= 0) return t`No minutes are left. Callbacks and calls of agents are not available.`;
  return minutes === 1
    ? t`One minute is left.`
    : plural(minutes, "{count} minute is left.", "{count} minutes are left.", {
        count: minutes.toLocaleString(language),
      });
}
