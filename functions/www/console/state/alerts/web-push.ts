/* Notifications while the console is closed (Web Push). The subscription belongs to the agent's session; the browser
   remembers that the agent wants notifications, and each new session subscribes again. */

import type { ApiClient } from "../../../api/client";
import { isWebPushEnabled } from "../agent/preferences";
import { isWebPushSupported, requestNotificationPermission } from "./alerts";

/** The address of the built service worker. */
declare const PUSH_WORKER_URL: string;
const SCOPE = "/console";

/** Subscribes the session's browser. Returns false if the browser does not allow notifications. */
export async function enableWebPush(api: ApiClient): Promise<boolean> {
  if (!(await requestNotificationPermission())) return false;
  await subscribe(api);
  isWebPushEnabled.value = true;
  return true;
}

export async function disableWebPush(api: ApiClient): Promise<void> {
  isWebPushEnabled.value = false;
  await api.delete("/agent/web-push");
}

/** Subscribes the browser of a new session, whose agent wants notifications. */
export function renewWebPush(api: ApiClient): void {
  if (!isWebPushSupported() || Notification.permission !== "granted") return;
  // Without a push service, for example because the browser is offline, the agent only misses notifications.
  subscribe(api).catch(() => undefined);
}

async function subscribe(api: ApiClient): Promise<void> {
  const registration = await navigator.serviceWorker.register(workerUrl(), { scope: SCOPE });
  await isActive(registration);
  const { public_key: key } = await api.get("/agent/web-push");
  const subscription = await subscriptionWith(registration, key);
  const { endpoint, keys } = subscription.toJSON();
  const { p256dh = "", auth = "" } = keys ?? {};
  await api.put("/agent/web-push", { body: { endpoint: endpoint ?? "", keys: { p256dh, auth } } });
}

/** A worker can subscribe only once it is active. */
async function isActive(registration: ServiceWorkerRegistration): Promise<void> {
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  if (worker === null || worker.state === "activated") return;
  await new Promise<void>((resolve) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve();
    });
  });
}

/** Returns the browser's subscription with this key. One with another key belongs to another account. */
async function subscriptionWith(registration: ServiceWorkerRegistration, key: string): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: key };
  try {
    return await registration.pushManager.subscribe(options);
  } catch (error) {
    const other = await registration.pushManager.getSubscription();
    if (other === null) throw error;
    await other.unsubscribe();
    return registration.pushManager.subscribe(options);
  }
}

/** Returns the worker's address in the form that the page's Content-Security-Policy accepts (trusted types). */
function workerUrl(): string {
  const factory = (window as { trustedTypes?: TrustedTypeFactory }).trustedTypes;
  // The browser accepts only one policy with this name.
  policy ??= factory?.createPolicy("push-worker", { createScriptURL: () => PUSH_WORKER_URL });
  return (policy?.createScriptURL("") ?? PUSH_WORKER_URL) as string;
}

let policy: TrustedTypePolicy | undefined;

interface TrustedTypePolicy {
  createScriptURL(url: string): unknown;
}
interface TrustedTypeFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): TrustedTypePolicy;
}
