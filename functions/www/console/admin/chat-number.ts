/** Parses a chat number, with or without a leading `#`. Returns undefined if the text is not a chat number. */
export function chatNumber(text: string): number | undefined {
  const digits = /^#?([1-9]\d{0,14})$/.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}
