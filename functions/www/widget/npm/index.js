/* Loads the chat widget. The service delivers the widget itself, so a new version needs no new package. */

const DEFAULT_PREFIX = "widget";

/** What has been loaded, by prefix: the promise, whether the script has run, and whether the page still wants it. */
const loads = new Map();

export function load({ url, id, prefix = DEFAULT_PREFIX, nonce, on = {} }) {
  // There is no page while a server renders it.
  if (typeof document === "undefined") return new Promise(() => {});
  for (const [name, callback] of Object.entries(on)) window[`${prefix}_${name}`] = callback;
  const known = loads.get(prefix);
  if (known) {
    known.isWanted = true;
    return known.promise;
  }
  const entry = { isWanted: true, hasRun: false };
  loads.set(prefix, entry);
  entry.promise = new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.async = true;
    script.src = `${url.replace(/\/+$/, "")}/widget/${encodeURIComponent(id)}`;
    script.dataset.prefix = prefix;
    if (nonce) script.nonce = nonce;
    script.onload = () => {
      entry.hasRun = true;
      if (!entry.isWanted) destroy(prefix);
      resolve(window[`${prefix}_api`]);
    };
    script.onerror = () => {
      loads.delete(prefix);
      script.remove();
      reject(new Error(`${script.src} could not be loaded.`));
    };
    document.head.append(script);
  });
  return entry.promise;
}

export function destroy(prefix = DEFAULT_PREFIX) {
  const entry = loads.get(prefix);
  if (!entry) return;
  entry.isWanted = false;
  // Otherwise, the widget is destroyed when its script has run, unless it is loaded again before.
  if (!entry.hasRun) return;
  loads.delete(prefix);
  window[`${prefix}_destroy`]();
}
