import { language } from "../texts/translate";

const naturalOrder = new Intl.Collator(undefined, { numeric: true });

/** Compares names as people sort them: Agent 2 comes before Agent 10. */
export const compareNames = (a: { name: string }, b: { name: string }) => naturalOrder.compare(a.name, b.name);

/** Joins texts, for example as "a, b and c". */
export const listText = (texts: readonly string[]) => new Intl.ListFormat(language).format(texts);

export const numbersText = (numbers: readonly number[]) => listText(numbers.map(String));

/** Returns a label for use within a sentence. German nouns begin with a capital letter there, too. */
export const inSentence = (label: string) => (language === "de" ? label : label.toLowerCase());

/** Formats a number with one decimal place. */
export const formatDecimal = (value: number) =>
  value.toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const capitalized = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** Returns a message of the service as a sentence. */
export const sentence = (words: string) => `${capitalized(words)}${/[.!?]$/.test(words) ? "" : "."}`;
