import { useState } from "preact/hooks";
import { withEdits } from "./form-changes";

/** The values of a form while they are edited. `groups` are the names of the values that consist of several settings,
 * each of which is edited separately. */
export function useDraft<Draft extends object>(initial: () => Draft, groups: readonly (keyof Draft)[] = []) {
  const [draft, setDraft] = useState<Draft>(initial);
  return {
    draft,
    setDraft: (draft: Draft) => setDraft(draft),
    change: (changes: Partial<Draft>) => setDraft((current) => ({ ...current, ...changes })),
    /** Shows the stored values after this rendering's draft has been saved, and keeps what was typed during the
     * request. */
    showStored: (stored: Draft) => setDraft((current) => withEdits(stored, draft, current, groups)),
  };
}
