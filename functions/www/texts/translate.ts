/* The console's texts in the selected language. The English text in the code is the key, as in gettext, so English needs
   no catalogue. The catalogue of another language is a file of its own (texts/<language>/console.json), which is loaded
   before the modules that import this one are evaluated: their constants may contain texts. */

import type { ComponentChild } from "preact";
import { persistentStorage } from "../ui/storage";

/** The plural forms of a text, by the category of Intl.PluralRules. */
type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>>;
type Catalogue = Record<string, string | PluralForms>;

/** The console's languages, by their own names. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  it: "Italiano",
  nl: "Nederlands",
  pl: "Polski",
  pt: "Português",
} as const;
export type Language = keyof typeof LANGUAGES;

const LOADERS: Record<string, () => Promise<{ default: Catalogue }>> = {
  de: () => import("./de/console.json", { with: { type: "json" } }),
  es: () => import("./es/console.json", { with: { type: "json" } }),
  fr: () => import("./fr/console.json", { with: { type: "json" } }),
  it: () => import("./it/console.json", { with: { type: "json" } }),
  nl: () => import("./nl/console.json", { with: { type: "json" } }),
  pl: () => import("./pl/console.json", { with: { type: "json" } }),
  pt: () => import("./pt/console.json", { with: { type: "json" } }),
};

/** Returns the first of the wanted languages that the console has, and otherwise English. */
export const chooseLanguage = (wanted: readonly (string | undefined)[]) =>
  (wanted.map((tag) => tag?.split("-")[0]).find((code) => Object.hasOwn(LANGUAGES, code ?? "")) ?? "en") as Language;

const chosen = chooseLanguage([
  persistentStorage.read<string>("language"),
  ...(typeof navigator === "undefined" ? [] : navigator.languages),
]);
// If the catalogue cannot be loaded, the console is usable in English.
const catalogue = await LOADERS[chosen]?.().then(
  (loaded) => loaded.default,
  () => undefined,
);
/** The language of the texts. */
export const language = catalogue ? chosen : "en";

const pluralRules = new Intl.PluralRules(language);
const entry = (key: string) => catalogue?.[key] ?? key;

/** Like `t`, for a text that contains elements. */
export function rich(parts: TemplateStringsArray, ...values: ComponentChild[]): ComponentChild[] {
  const key = parts.reduce((text, part, index) => `${text}{${index - 1}}${part}`);
  return (entry(key) as string).split(/\{(\d)\}/).map((part, index) => (index % 2 ? values[+part] : part));
}

/** Returns a text in the selected language: t`Transfer to ${name}` has the key "Transfer to {0}". */
export const t = (parts: TemplateStringsArray, ...values: (string | number)[]) => rich(parts, ...values).join("");

/** Returns a text whose English words mean several things, for example tIn("time", "To"). Its key is "To (time)". */
export const tIn = (context: string, text: string) => (catalogue?.[`${text} (${context})`] ?? text) as string;

/** Returns the text for a number: plural(2, "{count} chat", "{count} chats"), whose key is "{count} chats". `shown` are the
 * values of the placeholders, if they are not only the plain number. */
export function plural(count: number, one: string, other: string, shown?: Record<string, string | number>): string {
  const forms = catalogue?.[other] ?? { one, other };
  const text = (forms as PluralForms)[pluralRules.select(count)] ?? other;
  return text.replace(/\{(\w+)\}/g, (place, name) => `${shown?.[name] ?? (name === "count" ? count : place)}`);
}

/** Selects a language and loads the page again. */
export function changeLanguage(to: string): void {
  persistentStorage.write("language", to);
  location.reload();
}
