/** Parses sites that are separated by spaces, commas or semicolons. Returns each host once. A site may be typed as a
 * host or as the URL of a page. */
export function parseSites(text: string): string[] {
  const hosts = text
    .split(/[\s,;]+/)
    .map((site) =>
      site
        .replace(/^[a-z][a-z\d+.-]*:\/\//i, "")
        .replace(/[/?#].*$/, "")
        .replace(/:\d+$/, ""),
    )
    .filter((host) => host !== "");
  return [...new Set(hosts)];
}
