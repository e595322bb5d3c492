/* The widget's texts. Each language is a file of its own, so that a visitor loads only one. */

import type { Texts } from "./en";

export type { Texts };

const LOADERS: Record<string, () => Promise<{ default: Texts }>> = {
  en: () => import("./en"),
  de: () => import("./de"),
  es: () => import("./es"),
  fr: () => import("./fr"),
  pt: () => import("./pt"),
  ru: () => import("./ru"),
  zh: () => import("./zh"),
  ar: () => import("./ar"),
};

export const isRightToLeft = (language: string): boolean => language === "ar";

/** Returns the first of the wanted languages that the widget has, and otherwise English. */
export function chooseLanguage(setting: string, wanted: readonly string[]): string {
  const candidates = setting === "auto" ? wanted : [setting];
  return candidates.map((tag) => tag.slice(0, 2).toLowerCase()).find((code) => Object.hasOwn(LOADERS, code)) ?? "en";
}

/** Loads the texts of a language that `chooseLanguage` has returned. The browser loads a file only once. */
export const loadTexts = async (language: string): Promise<Texts> => (await LOADERS[language]!()).default;

/** Replaces the texts for which the settings contain replacements. */
export function withOverrides<T extends object>(texts: T, overrides: Record<string, string>): T {
  const known = Object.entries(overrides).filter(([key, value]) => Object.hasOwn(texts, key) && value);
  return { ...texts, ...Object.fromEntries(known) };
}

/** Fills a text's placeholder, for example {name}. */
export const fill = (text: string, value: string | number): string => text.replace(/\{\w+\}/, () => String(value));
