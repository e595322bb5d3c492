/** Returns the client ids in the cookies of Google Analytics and Yandex Metrica, or null if there are none. */
export function analyticsOf(cookies: string): { ga: string | null; ym: string | null } | null {
  const ga = /(?:^|; )_ga=GA\d\.\d\.([\d.]+)/.exec(cookies)?.[1] ?? null;
  const ym = /(?:^|; )_ym_uid=(\d+)/.exec(cookies)?.[1] ?? null;
  return ga === null && ym === null ? null : { ga, ym };
}
