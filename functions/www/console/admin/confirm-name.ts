/** Invisible characters: those that format a text, those that a font may ignore, and the Braille blank. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns a name as a page shows it: without invisible characters, and with one space in place of several. */
export const shownName = (name: string) => name.normalize("NFC").replace(INVISIBLE, "").replace(/\s+/g, " ").trim();

/** Returns whether the text confirms the name. The name may contain characters that nobody can see or type. */
export const confirmsName = (text: string, name: string): boolean =>
  shownName(text) !== "" && shownName(text) === shownName(name);
