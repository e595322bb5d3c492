export const capitalized = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** Returns a message of the service as a sentence. */
export const sentence = (words: string) => `${capitalized(words)}${/[.!?]$/.test(words) ? "" : "."}`;
