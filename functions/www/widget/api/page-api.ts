/* The object that the page calls. It exists as soon as the loader runs: until the widget is ready, calls are checked,
   return their results and are queued. */

import type { ContactInfo, Mode } from "../service/types";
import { allUtmFields, type Utm } from "../visitor/landing-page";
import { checkCall, CHECKS, UNAVAILABLE, type OfflineReport, type Result } from "./arguments";
import { guarded, type Callback } from "./guarded";

/** The widget as the API sees it. */
export interface Widget {
  /** Carries out a call with valid arguments. */
  run: (method: string, args: unknown[]) => void;
  /** Returns the value of a method that only reads. */
  read: (method: string) => unknown;
}

const MAX_ATTRIBUTE_CALLS_PER_HOUR = 10;
const HOUR_MS = 3_600_000;
/** The maximum number of calls that wait for the widget. If there are more, for example because the widget never
 * starts, the earliest are dropped. */
const MAX_QUEUED_CALLS = 100;
const STOPPED = "The widget is destroyed.";

export class PageApi {
  readonly methods: Record<string, Callback> = {};
  #queue: [method: string, args: unknown[]][] = [];
  #attributeCalls: number[] = [];
  #widget: Widget | undefined;
  /** Why calls fail, or undefined if they are carried out. */
  #problem: string | undefined;
  readonly #firstMode: Mode;

  /** `utm` is the campaign of the page. `firstMode` is the mode until the widget is ready. */
  constructor(utm: Utm | null, firstMode: Mode = "offline") {
    this.#firstMode = firstMode;
    for (const method of Object.keys(CHECKS)) this.methods[method] = (...args) => this.#act(method, args);
    this.methods["getUtm"] = () => allUtmFields((this.read("getUtm") as Utm | null | undefined) ?? utm);
    for (const method of ["chatMode", "getContactInfo", "getUnreadMessagesCount"])
      this.methods[method] = () => this.read(method) ?? this.#readEarly(method);
    for (const method of ["getVisitorNumber", "isCallbackEnabled"])
      this.methods[method] = (callback) => {
        if (typeof callback === "function") this.#runOrQueue(method, [guarded(callback as Callback)]);
      };
  }

  /** Passes the calls so far to the widget, and all further calls as they come. */
  connect(widget: Widget): void {
    this.#problem = undefined;
    this.#widget = widget;
    for (const [method, args] of this.#queue.splice(0)) this.#runOrQueue(method, args);
  }

  /** Lets the calls that wait fail, and all later ones until `resume` is called. A reason why the widget does not appear
   * is also shown in the browser's console. */
  stop(reason?: string, detail?: unknown): void {
    this.#widget = undefined;
    this.#problem = reason ? `The chat widget does not appear, because ${reason}.` : STOPPED;
    if (reason) console.warn(this.#problem, detail);
    for (const [method, args] of this.#queue.splice(0)) this.#refuse(method, args);
  }

  /** Accepts calls again, which wait for the widget. */
  resume(): void {
    this.#problem = undefined;
  }

  /** Returns the value of a method that only reads, or undefined until the widget is ready. */
  read(method: string): unknown {
    return this.#widget?.read(method);
  }

  #act(method: string, args: unknown[]): Result {
    const { result, args: taken } = checkCall(method, args);
    const checked = taken.map((value) => (typeof value === "function" ? guarded(value as Callback) : value));
    if (result.result === "ok") {
      if (this.#problem) return this.#refuse(method, checked);
      if (method === "setClientAttributes" && !this.#isAttributeCallAllowed())
        return { result: "fail", reason: "Limit exceeded" };
      const problem = method === "startCall" && (this.#widget?.read(method) as Result | undefined);
      if (problem) return { ...problem };
      this.#runOrQueue(method, checked);
    }
    return result;
  }

  #runOrQueue(method: string, args: unknown[]): void {
    const widget = this.#widget;
    if (this.#problem) this.#refuse(method, args);
    else if (widget) guarded(() => widget.run(method, args))();
    else if (this.#queue.push([method, args]) > MAX_QUEUED_CALLS) this.#queue.shift();
  }

  /** Tells the page that a call is not carried out. Returns the call's result. */
  #refuse(method: string, [first, report]: unknown[]): Result {
    const isOffline = method === "sendOfflineMessage";
    const result: Result = { result: "fail", [isOffline ? "error" : "reason"]: this.#problem };
    if (isOffline) (report as OfflineReport | undefined)?.(result);
    if (method === "isCallbackEnabled") (first as Callback)(UNAVAILABLE);
    if (method === "getVisitorNumber") (first as Callback)(this.#problem, null);
    return method === "setUserToken" ? { result: "fail", token: first } : result;
  }

  #readEarly(method: string): unknown {
    if (method === "chatMode") return this.#firstMode;
    if (method === "getUnreadMessagesCount") return 0;
    const info: ContactInfo = { client_name: null, email: null, phone: null, description: null };
    for (const [queued, [fields]] of this.#queue)
      if (queued === "setContactInfo") mergeContactInfo(info, fields as object);
    return info;
  }

  #isAttributeCallAllowed(): boolean {
    const start = Date.now() - HOUR_MS;
    this.#attributeCalls = this.#attributeCalls.filter((at) => at > start);
    const isAllowed = this.#attributeCalls.length < MAX_ATTRIBUTE_CALLS_PER_HOUR;
    if (isAllowed) this.#attributeCalls.push(Date.now());
    return isAllowed;
  }
}

/** Adds contact data of the page or of the service. An empty field is cleared. */
export function mergeContactInfo(info: ContactInfo, fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    const field = name === "name" ? "client_name" : name;
    if (Object.hasOwn(info, field)) info[field as keyof ContactInfo] = value || null;
  }
}
