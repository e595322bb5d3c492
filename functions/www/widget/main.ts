/* The widget's bundle, which the loader imports. */

import { backoffDelayMs } from "../socket/backoff";
import { attempt } from "./attempt";
import { createEmit, type Emit } from "./api/callbacks";
import type { PageApi } from "./api/page-api";
import { lazyBundle } from "./bundles";
import { Messenger } from "./chat/messenger";
import { countInTitle } from "./page-title";
import type { CallParts, Calls, LoaderOptions } from "./parts";
import { createPost, ServiceError } from "./service/client";
import type { Session } from "./service/types";
import { createState, Store } from "./state";
import { chooseLanguage, loadTexts, loadTextsOrEnglish, withOverrides } from "./texts";
import { HostElement, REFERENCE_PREFIX } from "./view/host-element";
import { View } from "./view/mount";
import { DeferredStorage } from "./visitor/deferred-storage";
import { analyticsOf } from "./visitor/analytics";
import { Profile } from "./visitor/profile";
import { keepLanding, readLanding, type Landing } from "./visitor/landing-page";
import { MAX_URL_LENGTH, VisitorSession } from "./visitor/visitor-session";
import { ChatWidget } from "./widget";

/** The file name of the bundle of call/main.ts. The build replaces it. */
declare const CALL_FILE: string;
/** The file name of the bundle of view/window-main.tsx. The build replaces it. */
declare const WINDOW_FILE: string;
const MAX_START_ATTEMPTS = 6;
const ROUTE_INTERVAL_MS = 1000;

/** Lets the API's calls fail, because the widget does not start. */
type Fail = (reason: string, error: unknown) => void;

/** Starts the widget, unless the service does not know it, or does not allow it on this site. The signal destroys it,
 * also while it starts. */
export async function start(options: LoaderOptions, api: PageApi, signal: AbortSignal): Promise<void> {
  const { base, widgetId, prefix, href: firstHref, destroy } = options;
  const name = `switchboard.widget.${widgetId}`;
  const post = createPost(base, widgetId);
  const storage = new DeferredStorage(
    attempt(() => localStorage),
    `${name}.`,
    attempt(() => sessionStorage),
  );
  const profile = new Profile(storage);
  const session = new VisitorSession(post, storage, profile, name);
  const analytics = analyticsOf(attempt(() => document.cookie) ?? "");
  if (analytics) profile.set({ analytics });
  const landing = readLanding(firstHref);
  if (landing.utm) profile.set({ utm: landing.utm });
  session.referrer = landing.referrer.slice(0, MAX_URL_LENGTH) || undefined;
  const { href } = location;

  // Load the texts of the likely language while the session is read.
  const wanted = [document.documentElement.lang, ...(navigator.languages ?? [])].filter(Boolean);
  loadTexts(chooseLanguage("auto", wanted)).catch(() => {});
  // The page may have started the widget again: then, the API belongs to the new start.
  const fail: Fail = (reason, error) => void (signal.aborted || api.stop(reason, error));
  const first = await loadSession(session, widgetId, signal, fail);
  if (!first) return;
  const loaded = await loadTextsOrEnglish(chooseLanguage(first.widget.language, wanted)).catch((error) =>
    fail("its texts cannot be loaded", error),
  );
  if (!loaded || signal.aborted) return;
  const { language } = loaded;
  const texts = withOverrides(loaded.texts, first.widget.texts);

  const emit = createEmit(prefix);
  const { mode, agents, callback } = first;
  const {
    bot: hasBot,
    bot_disclosure: isBotDisclosed,
    callback_available: isCallbackAvailable,
    opens_at: opensAt,
  } = first;
  const answering = { mode, hasBot, isBotDisclosed, agents, callback, isCallbackAvailable, opensAt };
  const state = createState({ settings: first.widget, texts, language, ...answering });
  const store: Store = new Store(state, (state) => {
    if (signal.aborted) return;
    countInTitle(document.hidden ? state.unread : 0);
    view?.render(state);
  });
  const messenger = new Messenger(name, store, session, storage, post, emit);
  let view: View | undefined;
  const focus = (isOpen: boolean) => queueMicrotask(() => (isOpen ? view?.focusWindow() : view?.focusLabel()));
  const importCalls = lazyBundle<typeof import("./call/main")>(`${base}/widget/assets/${CALL_FILE}`);
  const importWindow = lazyBundle<typeof import("./view/window-main")>(`${base}/widget/assets/${WINDOW_FILE}`);
  const loadCalls = (parts: CallParts): Promise<Calls> => importCalls().then((module) => module.start(parts));
  const widget = new ChatWidget({
    store,
    session,
    profile,
    storage,
    messenger,
    post,
    emit,
    loadCalls,
    focus,
    landing,
  });
  view = new View(widget, importWindow, new HostElement(undefined, prefix === REFERENCE_PREFIX ? destroy : undefined));
  widget.begin(first);
  store.update();

  const removeListeners = listen(messenger, session, store, emit);
  const routeTimer = setInterval(followRoutes(widget, landing, href), ROUTE_INTERVAL_MS);
  signal.addEventListener("abort", () => {
    removeListeners();
    clearInterval(routeTimer);
    widget.stop();
    countInTitle(0);
    view?.remove();
    view = undefined;
    emit("onWidgetDestroy");
  });
  api.connect(widget);
  emit("onLoadCallback");
  // The page may have destroyed the widget in the callback.
  if (!signal.aborted) widget.start();
}

/** Reads the session, and tries again if the service cannot be reached. */
async function loadSession(
  session: VisitorSession,
  widgetId: string,
  signal: AbortSignal,
  fail: Fail,
): Promise<Session | undefined> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await session.load();
    } catch (error) {
      const final = error instanceof ServiceError && !error.isTemporary && error;
      if (final || failures === MAX_START_ATTEMPTS) {
        const { status, code } = final || {};
        const reason =
          code === "site_not_allowed"
            ? `${location.origin} is not among the allowed sites in its settings`
            : status === 404
              ? `there is no widget "${widgetId}", or it is disabled`
              : `the service ${code ? `answers "${code}"` : "cannot be reached"}`;
        fail(reason, error);
        return undefined;
      }
      await new Promise((done) => setTimeout(done, backoffDelayMs(failures)));
    }
  }
  return undefined;
}

/** If the page is still there this long after a navigation has begun, the browser has not left it. */
const NAVIGATION_TIMEOUT_MS = 5000;

/** The event of the Navigation API, which TypeScript does not know yet. */
interface NavigateEvent extends Event {
  destination: { sameDocument: boolean };
  downloadRequest: string | null;
}

/** Returns a function that notices whether the page has changed its address, and reports an address that has stayed for
 * one interval: by then, most pages have set their title. `href` is the address that the service knows. */
function followRoutes(widget: ChatWidget, landing: Landing, href: string): () => void {
  let isReported = true;
  return () => {
    if (document.hidden) return;
    if (location.href !== href) {
      href = location.href;
      isReported = false;
      keepLanding(landing);
    } else if (!isReported) {
      isReported = true;
      widget.pageChanged();
    }
  };
}

/** Follows events of the page: visibility, network, size, and the browser's back/forward cache. */
function listen(messenger: Messenger, session: VisitorSession, store: Store, emit: Emit): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const resume = () => messenger.resume();
  document.addEventListener(
    "visibilitychange",
    () => {
      store.update();
      if (!document.hidden) resume();
    },
    { signal },
  );
  addEventListener("online", resume, { signal });
  // Another tab has changed the browser's storage, perhaps because of a sign-out.
  addEventListener("storage", () => session.check(), { signal });
  addEventListener("resize", () => store.state.isOpen && emit("onResizeCallback"), { signal });
  let returning: ReturnType<typeof setTimeout> | undefined;
  const restart = () => {
    clearTimeout(returning);
    messenger.restart();
  };
  // Chromium puts a page into its back/forward cache only if all sockets were closed some time before the page is left.
  (window as { navigation?: EventTarget }).navigation?.addEventListener(
    "navigate",
    (event) => {
      const { destination, downloadRequest } = event as NavigateEvent;
      if (destination.sameDocument || downloadRequest !== null) return;
      messenger.pause();
      clearTimeout(returning);
      returning = setTimeout(restart, NAVIGATION_TIMEOUT_MS);
    },
    { signal },
  );
  addEventListener("pagehide", () => messenger.pause(), { signal });
  addEventListener("pageshow", ({ persisted }) => persisted && restart(), { signal });
  return () => {
    stop.abort();
    clearTimeout(returning);
  };
}
