/* The widget's texts. Each language is a file of its own, so that a visitor loads only one. */

import type { Texts } from "../texts/en/widget";

export type { Texts };

const LOADERS: Record<string, () => Promise<{ default: Texts }>> = {
  en: () => import("../texts/en/widget"),
  de: () => import("../texts/de/widget"),
  es: () => import("../texts/es/widget"),
  fr: () => import("../texts/fr/widget"),
  pt: () => import("../texts/pt/widget"),
  ru: () => import("../texts/ru/widget"),
  zh: () => import("../texts/zh/widget"),
  ar: () => import("../texts/ar/widget"),
  it: () => import("../texts/it/widget"),
  nl: () => import("../texts/nl/widget"),
  pl: () => import("../texts/pl/widget"),
  tr: () => import("../texts/tr/widget"),
  uk: () => import("../texts/uk/widget"),
  ja: () => import("../texts/ja/widget"),
  he: () => import("../texts/he/widget"),
};
/** Chinese in traditional characters. */
const TRADITIONAL_CHINESE = /^zh\W(hant|tw|hk|mo)/i;

export const languages = (): string[] => Object.keys(LOADERS);

export const isRightToLeft = (language: string): boolean => language === "ar" || language === "he";

/** Returns the first of the wanted languages that the widget has, and otherwise English. Readers of traditional Chinese
 * do not get simplified Chinese: like CLDR, the widget does not treat one as a replacement of the other. */
export function chooseLanguage(setting: string, wanted: readonly string[]): string {
  if (setting !== "auto") return chooseLanguage("auto", [setting]);
  const isTraditional = wanted.find((tag) => /^zh\b/i.test(tag))?.match(TRADITIONAL_CHINESE);
  const codes = wanted.map((tag) => tag.toLowerCase().split(/[^a-z]/)[0] ?? "");
  return codes.find((code) => Object.hasOwn(LOADERS, code) && !(isTraditional && code === "zh")) ?? "en";
}

/** Loads the texts of a language that `chooseLanguage` has returned. The browser loads a file only once. */
export const loadTexts = async (language: string): Promise<Texts> => (await LOADERS[language]!()).default;

/** Loads the texts of a language, or those of English if that fails. Returns them with their language. */
export const loadTextsOrEnglish = (language: string): Promise<{ language: string; texts: Texts }> =>
  loadTexts(language).then(
    (texts) => ({ language, texts }),
    async () => ({ language: "en", texts: await loadTexts("en") }),
  );

/** Replaces the texts for which the settings contain replacements. */
export function withOverrides<T extends object>(texts: T, overrides: Record<string, string>): T {
  const known = Object.entries(overrides).filter(([key, value]) => Object.hasOwn(texts, key) && value);
  return { ...texts, ...Object.fromEntries(known) };
}

/** Fills a text's placeholder, for example {name}. */
export const fill = (text: string, value: string | number): string => text.replace(/\{\w+\}/, () => String(value));
