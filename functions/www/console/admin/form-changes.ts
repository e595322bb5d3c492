/* What has been changed in a form. */

/** Returns the fields of `after` that differ from `before`. */
export function differences<T extends object>(before: T, after: T): Partial<T> {
  const isChanged = ([key, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[key as keyof T]);
  return Object.fromEntries(Object.entries(after).filter(isChanged)) as Partial<T>;
}

/** Returns the fields of `after` that differ from `before`. Undefined if none does. */
export function changedFields<T extends object>(before: T, after: T): Partial<T> | undefined {
  const changes = differences(before, after);
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** Returns `stored` with the edits that turned the draft `before` into `after`. `groups` are the names of the values
 * that consist of several settings, each of which is edited separately. */
export function withEdits<Draft extends object>(
  stored: Draft,
  before: Draft,
  after: Draft,
  groups: readonly (keyof Draft)[],
): Draft {
  const edited: Draft = { ...stored, ...differences(before, after) };
  for (const group of groups) {
    const edits = differences(before[group] as object, after[group] as object);
    edited[group] = { ...(stored[group] as object), ...edits } as Draft[keyof Draft];
  }
  return edited;
}
