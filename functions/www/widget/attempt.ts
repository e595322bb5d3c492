/** Returns undefined if the browser refuses what `use` does, as it does for storages of blocked sites and in sandboxed
 * frames. */
export function attempt<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
