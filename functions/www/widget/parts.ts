/* What the bundles of the widget give each other when one of them starts another. */

import type { Result } from "./api/arguments";
import type { Emit } from "./api/callbacks";
import type { Messenger } from "./chat/messenger";
import type { RuleCommand } from "./rules/rules";
import type { Post } from "./service/client";
import type { Call } from "./service/types";
import type { Screen, Store } from "./state";
import type { DeferredStorage } from "./visitor/deferred-storage";
import type { Landing } from "./visitor/landing-page";
import type { Profile } from "./visitor/profile";
import type { VisitorSession } from "./visitor/visitor-session";

/** What the loader tells the widget about the page. */
export interface LoaderOptions {
  /** The URL of the service, without a slash at its end. */
  base: string;
  widgetId: string;
  /** The prefix of the global names by which the page and the widget call each other, for example "jivo". */
  prefix: string;
  /** The address under which the page was loaded. */
  href: string;
  destroy: () => void;
}

/** The parts that a `ChatWidget` connects. */
export interface Parts {
  store: Store;
  session: VisitorSession;
  profile: Profile;
  storage: DeferredStorage;
  messenger: Messenger;
  post: Post;
  emit: Emit;
  /** Loads the part of the widget that makes calls. */
  loadCalls: (parts: CallParts) => Promise<Calls>;
  /** The first page of the visit. */
  landing: Landing;
  /** Moves the focus after the window has been opened or closed. */
  focus: (isOpen: boolean) => void;
}

/** What the widget gives to the part that makes calls. */
export interface CallParts extends Pick<Parts, "store" | "session" | "storage" | "messenger" | "post" | "emit"> {
  /** Shows a screen of the window, by default the chat or the offline form. */
  show: (screen?: Screen) => void;
}

/** What the widget asks of the part that makes calls. */
export interface Calls {
  /** Applies a pushed status of the call `id`. Without an id, applies the call in progress when the session was
   * read. */
  update: (call: Call | null, id?: string) => void;
  /** Starts a callback for the page, which learns of a failure through widget_onCallEnd. */
  start: (phone: string) => void;
  /** Finds out whether the visitor can ask for a callback (isCallbackEnabled). */
  check: (callback: (result: Result) => void) => void;
  /** Shows the button for calls, if callbacks are available. */
  prepare: () => void;
  open: () => void;
  /** Opens the form for a trigger rule, unless the visitor is in a conversation or callbacks are not available. */
  offer: (params: RuleCommand["params"]) => void;
  /** Ends all requests and callbacks, because the widget is removed. */
  stop: () => void;
}
