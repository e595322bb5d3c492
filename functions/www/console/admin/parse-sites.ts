/** Returns the hosts of sites. A site may be typed as a host or as the address of a page. */
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
