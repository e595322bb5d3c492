const BROWSER_PATTERNS: readonly (readonly [string, RegExp])[] = [
  ["Edge", /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ["Opera", /\bOPR\/(\d+)/],
  ["Samsung Internet", /\bSamsungBrowser\/(\d+)/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /\b(?:Chrome|CriOS)\/(\d+)/],
  ["Safari", /\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//],
];
const SYSTEM_PATTERNS: readonly (readonly [string, RegExp])[] = [
  ["Android", /Android/],
  ["iPad", /iPad/],
  ["iPhone", /iPhone/],
  ["Windows", /Windows/],
  ["macOS", /Mac OS X|Macintosh/],
  ["ChromeOS", /CrOS/],
  ["Linux", /Linux/],
];

/** Returns the browser and operating system named in a User-Agent header, for example "Firefox 132, Android". Returns
 * the first 80 characters of the header if it names neither a known browser nor a known operating system. */
export function browserName(userAgent: string): string {
  const browser = BROWSER_PATTERNS.map(([name, pattern]) => [name, pattern.exec(userAgent)?.[1]] as const).find(
    ([, version]) => version !== undefined,
  );
  const system = SYSTEM_PATTERNS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const label = [browser === undefined ? undefined : `${browser[0]} ${browser[1]}`, system].filter(Boolean).join(", ");
  return label === "" ? userAgent.slice(0, 80) : label;
}
