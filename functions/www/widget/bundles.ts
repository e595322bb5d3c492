/* Imports the bundles that are loaded when they are first needed. */

/** Returns a function that imports a bundle, and does so only once unless that fails. */
export function lazyBundle<Module>(address: string): () => Promise<Module> {
  let loaded: Promise<Module> | undefined;
  let hasFailed = false;
  return () =>
    (loaded ??= import(address + (hasFailed ? `?${Date.now()}` : "")).catch((error) => {
      // Browsers do not request an address again whose import has failed.
      hasFailed = true;
      loaded = undefined;
      throw error;
    }));
}
