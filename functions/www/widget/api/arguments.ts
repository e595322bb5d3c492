/* Checks the arguments of the methods that a page calls, and returns the result that the specification documents (part
   D). The loader returns this result before the rest of the widget has been loaded. */

import { safeMedia } from "../chat/safe-address";
import type { CustomField } from "../service/types";

export type Result = { result: "ok" | "fail"; reason?: string; error?: string; token?: unknown };
export interface OfflineMessage {
  name?: string;
  email?: string;
  phone?: string;
  description?: string;
  message: string;
}

export const MAX_CUSTOM_FIELDS = 10;
const MAX_CONTENT_LENGTH = 1000;
const MAX_NAME_LENGTH = 255;
const MAX_USER_TOKEN_LENGTH = 2048;
const OK: Result = { result: "ok" };
/** The reasons are spelled as in the specification. */
export const DISABLED: Result = { result: "fail", reason: "Callback disabled" };
export const UNAVAILABLE: Result = { result: "fail", reason: "Callback unavaiable" };

const fail = (reason: string): Result => ({ result: "fail", reason });
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";
const isLongerThan = (length: number) => (value: unknown) => typeof value === "string" && value.length > length;
/** Whether one of the short or long texts is longer than the service stores. */
const isTooLong = (short: unknown[], ...long: unknown[]) =>
  short.some(isLongerThan(MAX_NAME_LENGTH)) || long.some(isLongerThan(MAX_CONTENT_LENGTH));
const isOptionalText = (value: unknown) => value === undefined || value === null || typeof value === "string";
const isOptionalLabel = (value: unknown) => typeof value === "number" || isOptionalText(value);

export const isEmail = (value: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/.test(value.trim());
export const isPhone = (value: string): boolean =>
  /^[\d\s+().\/#*-]+$/.test(value) && value.replace(/\D/g, "").length >= 3;

/** Returns the fields of an offline message, from the documented object or from separate arguments. */
export function offlineMessageOf(args: unknown[]): Record<string, unknown> {
  if (isObject(args[0])) return args[0];
  const [name, email, phone, description, message] = args;
  return { name, email, phone, description, message };
}

function checkOfflineMessage(args: unknown[]): Result {
  const { name, email, phone, description, message } = offlineMessageOf(args);
  const error = (text: string): Result => ({ result: "fail", error: text });
  if (![name, email, phone, description].every(isOptionalText)) return error("All fields must be strings.");
  if (isTooLong([name, email, phone], description)) return error("Contact info is too long.");
  if (!isText(message)) return error("Message must not be empty.");
  if (!isText(email) && !isText(phone)) return error("Email or phone is required.");
  if (isText(email) && !isEmail(email)) return error("Email is not valid.");
  if (isText(phone) && !isPhone(phone)) return error("Phone is not valid.");
  return OK;
}

function checkCustomData([fields]: unknown[]): Result {
  if (!Array.isArray(fields)) return fail("Custom data must be array.");
  if (fields.length > MAX_CUSTOM_FIELDS) return fail(`Custom data must have at most ${MAX_CUSTOM_FIELDS} fields.`);
  for (const field of fields) {
    const { content, title, link, key } = (isObject(field) ? field : {}) as Partial<CustomField>;
    if (typeof content !== "number" && !isText(content)) return fail("Custom data field must have content.");
    if (![title, key].every(isOptionalLabel) || !isOptionalText(link)) return fail("Custom data must contain strings.");
    if (isTooLong([title, key], content, link)) return fail("Custom data field is too long.");
    if (link && !safeMedia(link)) return fail("Link must begin with http:// or https://.");
  }
  return OK;
}

function checkContactInfo([info]: unknown[]): Result {
  if (!isObject(info)) return fail("Contact info must be object.");
  const { name, email, phone, description } = info;
  if (![name, email, phone, description].every(isOptionalText)) return fail("Contact info must contain strings.");
  return isTooLong([name, email, phone], description) ? fail("Contact info is too long.") : OK;
}

const accept = () => OK;

/** The methods that change something, with the checks of their arguments. */
export const CHECKS: Record<string, (args: unknown[]) => Result> = {
  open: accept,
  close: accept,
  clearHistory: accept,
  setContactInfo: checkContactInfo,
  setCustomData: checkCustomData,
  setRules: ([rules]) => (Array.isArray(rules) ? OK : fail("Rules must be array.")),
  setUserToken: ([token]) =>
    token === null || (isText(token) && token.length <= MAX_USER_TOKEN_LENGTH)
      ? { result: "ok", token }
      : { result: "fail", token: token ?? false },
  showProactiveInvitation: ([text]) => (isText(text) ? OK : fail("Invitation text must be string.")),
  setWidgetColor: (colors) =>
    colors.every((color, index) => (index > 0 && !color) || /^#[\da-f]{6}$/i.test(String(color))) && colors.length > 0
      ? OK
      : fail("Color must be #rrggbb."),
  setClientAttributes: ([attributes]) => (isObject(attributes) ? OK : fail("Attributes must be object.")),
  sendPageTitle: ([title]) => (isText(title) ? OK : fail("Title must be string.")),
  sendOfflineMessage: checkOfflineMessage,
  startCall: ([phone]) => (isText(phone) && isPhone(phone) ? OK : fail("Phone is not valid.")),
};

/** Returns the result of a method with these arguments. */
export function checkCall(method: string, args: unknown[]): Result {
  return CHECKS[method]?.(args) ?? OK;
}
