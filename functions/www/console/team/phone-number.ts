/** Returns what is wrong with the phone number of an agent, or undefined. The service also checks the country code. */
export function phoneProblem(text: string): string | undefined {
  const number = text.trim();
  if (number === "") return undefined;
  const digits = number.replace(/\D/g, "").length;
  return /^[+＋]?[\d\s\-./()]+$/.test(number) && digits >= 5 && digits <= 15
    ? undefined
    : "Enter a phone number, for example +31 20 123 4567.";
}
