/* Campaign parameters of the page, and the ids that web analytics have given the visitor. */

const UTM_FIELDS = ["source", "campaign", "content", "medium", "term"];

/** Returns the utm_ parameters of a query string without their prefix, or null if it has none. */
export function utmOf(query: string): Record<string, string> | null {
  const parameters = new URLSearchParams(query);
  const utm: Record<string, string> = {};
  for (const field of UTM_FIELDS) {
    const value = parameters.get(`utm_${field}`);
    if (value) utm[field] = value;
  }
  return Object.keys(utm).length > 0 ? utm : null;
}

/** Returns the client ids in the cookies of Google Analytics and Yandex Metrica, or null if there are none. */
export function analyticsOf(cookies: string): { ga: string | null; ym: string | null } | null {
  const ga = /(?:^|; )_ga=GA\d\.\d\.([\d.]+)/.exec(cookies)?.[1] ?? null;
  const ym = /(?:^|; )_ym_uid=(\d+)/.exec(cookies)?.[1] ?? null;
  return ga === null && ym === null ? null : { ga, ym };
}
