/* The console's service worker. It shows notifications while no tab with the console is visible. It handles no requests,
   so pages load as they do without it. */

/** A notification as `deliver-push` sends it (shared/src/wire/push/notification.rs). */
interface PushedNotification {
  kind: "message" | "waiting" | "given" | "mention" | "withdraw";
  chat_id: number;
  name?: string;
  text?: string;
}

/** What TypeScript's types of pages do not contain. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface PushEvent extends WorkerEvent {
  data: { json(): PushedNotification } | null;
}
interface NotificationEvent extends WorkerEvent {
  notification: Notification;
}
interface WindowClient {
  visibilityState: DocumentVisibilityState;
  url: string;
  focus(): Promise<WindowClient>;
  navigate(url: string): Promise<WindowClient | null>;
}
interface WorkerScope {
  registration: ServiceWorkerRegistration;
  clients: {
    matchAll(options: { type: "window"; includeUncontrolled: boolean }): Promise<WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
    claim(): Promise<void>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: WorkerEvent) => void): void;
  addEventListener(type: "push", listener: (event: PushEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: NotificationEvent) => void): void;
}

const worker = self as unknown as WorkerScope;

worker.addEventListener("install", (event) => event.waitUntil(worker.skipWaiting()));

// A click on a notification can then open the chat in a tab that was loaded before the worker.
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener("push", (event) => {
  const pushed = event.data?.json();
  if (pushed !== undefined) event.waitUntil(pushed.kind === "withdraw" ? withdraw(pushed.chat_id) : show(pushed));
});

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(Number(event.notification.tag.replace(/^chat-/, ""))));
});

async function show(pushed: PushedNotification): Promise<void> {
  // A visible console tells the agent itself.
  if ((await consoles()).some((client) => client.visibilityState === "visible")) return;
  const { title, body } = textOf(pushed);
  await worker.registration.showNotification(title, { body, tag: `chat-${pushed.chat_id}`, renotify: true } as object);
}

function textOf({ kind, chat_id: chatId, name, text = "" }: PushedNotification): { title: string; body: string } {
  const who = name ?? `Chat #${chatId}`;
  if (kind === "waiting") return { title: `${who} is waiting`, body: text };
  if (kind === "given") return { title: `${who} is your chat now`, body: text };
  if (kind === "mention") return { title: `You are mentioned: ${who}`, body: text };
  return { title: who, body: text || "New message" };
}

async function withdraw(chatId: number): Promise<void> {
  const shown = await worker.registration.getNotifications({ tag: `chat-${chatId}` });
  for (const notification of shown) notification.close();
}

async function consoles(): Promise<WindowClient[]> {
  const clients = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  return clients.filter(({ url }) => new URL(url).pathname.startsWith("/console"));
}

/** Shows the chat in the tab with the console, or in a new one. */
async function open(chatId: number): Promise<void> {
  const address = `/console#/chat/${chatId}`;
  const [client] = await consoles();
  if (client === undefined) {
    await worker.clients.openWindow(address);
    return;
  }
  await client.focus();
  await client.navigate(address);
}
