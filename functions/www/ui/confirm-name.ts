/** Matches invisible characters: format characters, default-ignorable code points, and the Braille blank. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns a name as a page shows it: normalized to NFC, without invisible characters, and with single spaces between
 * words. */
export const shownName = (name: string) => name.normalize("NFC").replace(INVISIBLE, "").replace(/\s+/g, " ").trim();

/** Returns whether the text confirms the name. Invisible characters, which nobody can type, are ignored. */
export const confirmsName = (text: string, name: string): boolean =>
  shownName(text) !== "" && shownName(text) === shownName(name);
