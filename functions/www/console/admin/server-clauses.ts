/* What a server must do, as far as one test request shows it. */

import type { ReceiverTestResult, ServerClause } from "../../api/types";
import { plural, t } from "../../texts/translate";

/** The clauses in the order in which they are checked. */
export const CLAUSES: Readonly<Record<ServerClause, string>> = {
  accepts: t`Accepts a sample`,
  accepts_after_old_signature: t`Accepts its signature after that of an old secret`,
  accepts_before_old_signature: t`Accepts its signature before that of an old secret`,
  refuses_unsigned: t`Refuses a request without a signature`,
  refuses_wrong_signature: t`Refuses a wrong signature`,
  refuses_signature_of_other_body: t`Refuses the signature of another body`,
  refuses_old_request: t`Refuses a request that was signed ten minutes ago`,
  ignores_unknown_fields: t`Ignores unknown fields`,
  survives_unknown_type: t`Survives a type that it does not know`,
  survives_malformed_json: t`Survives a body that is not JSON`,
  accepts_repeated: t`Accepts a request that is sent again with the same id`,
};

export const ALL_CLAUSES = Object.keys(CLAUSES) as ServerClause[];

export type ClauseResults = ReadonlyMap<ServerClause, ReceiverTestResult>;

/** Tests the clauses that have no result yet, one after the other, until all have one or `isStopped` returns true. */
export async function checkClauses(
  results: ClauseResults,
  send: (clause: ServerClause) => Promise<ReceiverTestResult>,
  onResults: (results: ClauseResults) => void,
  isStopped: () => boolean,
): Promise<void> {
  let known = results;
  for (const clause of ALL_CLAUSES) {
    if (known.has(clause)) continue;
    if (isStopped()) return;
    known = new Map([...known, [clause, await send(clause)]]);
    onResults(known);
  }
}

/** Returns the number of kept clauses in words. */
export function summaryText(results: ClauseResults): string {
  const kept = [...results.values()].filter((result) => result.kept).length;
  if (kept === ALL_CLAUSES.length) return t`The server keeps all ${kept} clauses.`;
  return plural(
    results.size,
    "The server keeps {kept} of {count} tested clause.",
    "The server keeps {kept} of {count} tested clauses.",
    { kept },
  );
}

/** Returns what was expected of the server, and what came instead. */
export function differenceText({ expected, status, error }: ReceiverTestResult): string {
  // Some errors only name the status.
  const reason = error === null || error.startsWith("HTTP ") ? [] : [error];
  const got = [...(status === null ? [] : [t`status ${status}`]), ...reason];
  return t`Expected ${expected}. Got: ${got.join(", ")}.`;
}
