/* Checks the arguments of the methods that a page calls, and returns the result that the specification documents (part
   D). The loader returns this result before the rest of the widget has been loaded. Pages pass numbers as texts, empty
   fields and relative links: what has a meaning is taken, and a field that has none is left out. */

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

/** A function of the page that hears what came of its offline message. */
export type OfflineReport = (result: Result) => void;

export const MAX_CUSTOM_FIELDS = 10;
const MAX_CONTENT_LENGTH = 1000;
const MAX_NAME_LENGTH = 255;
const MAX_USER_TOKEN_LENGTH = 2048;
const MAX_PHONE_LENGTH = 40;
const MAX_PAGE_LENGTH = 4096;
/** The reasons are spelled as in the specification. */
export const DISABLED: Result = { result: "fail", reason: "Callback disabled" };
export const UNAVAILABLE: Result = { result: "fail", reason: "Callback unavaiable" };

type Fields = Record<string, unknown>;
/** Returns the arguments that the widget gets, or why the call fails. */
type Check = (args: unknown[]) => unknown[] | Result;

const fail = (reason: string): Result => ({ result: "fail", reason });
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isTextLike = (value: unknown) => typeof value === "string" || Number.isFinite(value);
/** Returns a text or a number as a trimmed text, and "" for any other value. */
const textOf = (value: unknown, maxLength = MAX_NAME_LENGTH): string =>
  isTextLike(value) ? String(value).trim().slice(0, maxLength) : "";

export const isEmail = (value: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/.test(value.trim());
export const isPhone = (value: string): boolean =>
  /^[\d\s+().\/#*-]+$/.test(value) && value.replace(/\D/g, "").length >= 3;
/** Whether a text may be a number that can be called. Only the service knows the numbering plans of the countries. */
export function isCallable(value: string): boolean {
  const digits = value.match(/\p{Nd}/gu)?.length ?? 0;
  return [...value].length <= MAX_PHONE_LENGTH && digits >= 4 && digits <= 20;
}

/** Returns the absolute form of a link of the page, or undefined if it is no http or https link. */
function linkOf(value: unknown, maxLength: number): string | undefined {
  try {
    const text = textOf(value, Infinity);
    const link = text && new URL(text, document.baseURI).href;
    return link.length <= maxLength ? safeMedia(link) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the contact data of an object. An empty text and null clear a field. */
const contactOf = (info: Fields): Record<string, string> =>
  Object.fromEntries(
    (["name", "email", "phone", "description"] as const).flatMap((name) =>
      info[name] === null || isTextLike(info[name])
        ? [[name, textOf(info[name], name === "description" ? MAX_CONTENT_LENGTH : MAX_NAME_LENGTH)]]
        : [],
    ),
  );

function checkOfflineMessage([first, ...others]: unknown[]): unknown[] | Result {
  const [email, phone, description, message] = others;
  const given = isObject(first) ? first : { name: first, email, phone, description, message };
  const error = (text: string): Result => ({ result: "fail", error: text });
  const contact = Object.entries(contactOf(given)).filter(([, value]) => value);
  const fields = { ...Object.fromEntries(contact), message: textOf(given["message"], Infinity) } as OfflineMessage;
  if (!fields.message) return error("Message must not be empty.");
  if ([...fields.message].length > MAX_CONTENT_LENGTH)
    return error(`Message must have at most ${MAX_CONTENT_LENGTH} characters.`);
  if (!fields.email && !fields.phone) return error("Email or phone is required.");
  if (fields.email && !isEmail(fields.email)) return error("Email is not valid.");
  if (fields.phone && !isPhone(fields.phone)) return error("Phone is not valid.");
  return [fields, [first, ...others].find((argument) => typeof argument === "function")];
}

function checkCustomData([fields]: unknown[]): unknown[] | Result {
  if (!Array.isArray(fields)) return fail("Custom data must be array.");
  const valid = fields.filter(isObject).flatMap(({ content, title, key, link }): CustomField[] => {
    const text = textOf(content, MAX_CONTENT_LENGTH);
    const names = { title: textOf(title) || undefined, key: textOf(key) || undefined };
    return text ? [{ content: text, ...names, link: linkOf(link, MAX_CONTENT_LENGTH) }] : [];
  });
  return valid.length > MAX_CUSTOM_FIELDS
    ? fail(`Custom data must have at most ${MAX_CUSTOM_FIELDS} fields.`)
    : [valid];
}

function checkAttributes([attributes]: unknown[]): unknown[] | Result {
  if (!isObject(attributes)) return fail("Attributes must be object.");
  const texts = Object.entries(attributes).flatMap(([name, value]) =>
    textOf(name) && (value === null || isTextLike(value)) ? [[textOf(name), textOf(value, MAX_CONTENT_LENGTH)]] : [],
  );
  return [Object.fromEntries(texts)];
}

function checkUserToken([token]: unknown[]): unknown[] | Result {
  const text = textOf(token, Infinity);
  if (token === null || token === "") return [null];
  return text && text.length <= MAX_USER_TOKEN_LENGTH ? [text] : { result: "fail", token: token ?? false };
}

/** Returns a colour as #rrggbb, or undefined if it is none. */
function colorOf(value: unknown): string | undefined {
  const [, digits] = /^#?([\da-f]{3}|[\da-f]{6})$/i.exec(textOf(value)) ?? [];
  return digits && `#${digits.length === 3 ? digits.replace(/./g, "$&$&") : digits}`;
}

const accept: Check = (args) => args;

/** The methods that change something, with the checks of their arguments. */
export const CHECKS: Record<string, Check> = {
  open: accept,
  close: accept,
  clearHistory: accept,
  setContactInfo: ([info]) => (isObject(info) ? [contactOf(info)] : fail("Contact info must be object.")),
  setCustomData: checkCustomData,
  setRules: ([rules]) => (Array.isArray(rules) ? [rules] : fail("Rules must be array.")),
  setUserToken: checkUserToken,
  showProactiveInvitation: ([text, departmentId]) => {
    const invitation = textOf(text, MAX_CONTENT_LENGTH);
    return invitation ? [invitation, departmentId] : fail("Invitation text must be string.");
  },
  setWidgetColor: ([first, second]) => {
    const color = colorOf(first);
    return color ? [color, colorOf(second)] : fail("Color must be #rrggbb.");
  },
  setClientAttributes: checkAttributes,
  sendPageTitle: ([title, , url]) => {
    const text = textOf(title);
    return text ? [text, linkOf(url, MAX_PAGE_LENGTH)] : fail("Title must be string.");
  },
  sendOfflineMessage: checkOfflineMessage,
  startCall: ([phone]) => {
    const number = textOf(phone);
    return isCallable(number) ? [number] : fail("Phone is not valid.");
  },
};

/** Returns the result of a method with these arguments, and the arguments that the widget gets if it is "ok". */
export function checkCall(method: string, args: unknown[]): { result: Result; args: unknown[] } {
  const checked = CHECKS[method]?.(args) ?? args;
  if (!Array.isArray(checked)) return { result: checked, args: [] };
  return { result: method === "setUserToken" ? { result: "ok", token: args[0] } : { result: "ok" }, args: checked };
}
