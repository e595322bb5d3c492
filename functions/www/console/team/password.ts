/** 32 letters and digits that cannot be mistaken for each other. A random byte selects each of them with the same
 * probability, because 256 is a multiple of 32. */
const CHARACTERS = "abcdefghjkmnpqrstuvwxyz23456789Q";
const PASSWORD_CHARACTERS = 20;

/** Returns a random password of 100 bits. */
export function randomPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(PASSWORD_CHARACTERS));
  return Array.from(bytes, (byte) => CHARACTERS[byte % CHARACTERS.length]).join("");
}
