/* The calls of the widget's API that the panel offers, their results, and the callbacks that the widget has called. */

import { signal } from "@preact/signals";
import { declareCallbacks, widgetApi, widgetGlobal } from "../widget-api";
import { formatLiteral } from "./literal";

export interface Call {
  /** The name of a method of `widget_api`, or of a global function. */
  name: string;
  args: unknown[];
  /** Whether the last argument is a function that receives the result. */
  takesCallback?: boolean;
}
export interface CallResult {
  text: string;
  isFailure: boolean;
}
export interface CallbackCall {
  number: number;
  at: number;
  text: string;
}

const MAX_CALLBACK_CALLS = 200;
const call = (name: string, ...args: unknown[]): Call => ({ name, args });

export const CALLS: { title: string; calls: Call[] }[] = [
  {
    title: "Window",
    calls: [
      call("open"),
      call("close"),
      call("chatMode"),
      call("getUnreadMessagesCount"),
      call("setWidgetColor", "#8a3b12"),
      call("showProactiveInvitation", "Shall I help you to choose a tent?"),
      call("setRules", [
        {
          name: "Greet",
          enabled: true,
          type: "all",
          conditions: [{ condition: "time_on_page", comparator: "greater", value: 1 }],
          commands: [{ command: "proactive", params: { message: "The Tarn 2 is back in stock." } }],
        },
      ]),
      call("clearHistory"),
    ],
  },
  {
    title: "Visitor",
    calls: [
      { name: "getVisitorNumber", args: [], takesCallback: true },
      call("setContactInfo", { name: "Ada Lind", email: "ada.lind@example.com" }),
      call("getContactInfo"),
      call("setUserToken", "demo-customer-42"),
      call("setCustomData", [{ title: "Basket", content: "Tarn 2, Ember", link: "https://shop.example/basket" }]),
      call("setClientAttributes", { plan: "Trail Club" }),
      call("sendPageTitle", "Tents | Cairn"),
      call("getUtm"),
      call("sendOfflineMessage", { email: "ada.lind@example.com", message: "Please call me about the Ridge 45." }),
    ],
  },
  {
    title: "Phone calls",
    calls: [
      { name: "isCallbackEnabled", args: [], takesCallback: true },
      call("open", { start: "call" }),
      call("startCall", "+44 20 7946 0123"),
    ],
  },
  {
    title: "Calls with failure objects",
    calls: [
      call("startCall", "no number"),
      call("setCustomData", "no list"),
      call("setUserToken", ["no text"]),
      call("sendOfflineMessage", { message: "Hello" }),
    ],
  },
  { title: "Functions of the page", calls: [call("widget_destroy"), call("widget_init")] },
];

const isGlobal = ({ name }: Call) => name.startsWith("widget_");

/** Returns the call as it would be written in a script, without `widget_api.` before a method. */
export function codeOf({ name, args, takesCallback }: Call): string {
  return `${name}(${[...args.map(formatLiteral), ...(takesCallback ? ["callback"] : [])].join(", ")})`;
}

export const results = signal<ReadonlyMap<Call, CallResult>>(new Map());

/** Carries out a call and shows its result. */
export function runCall(call: Call): void {
  const show = (text: string, isFailure = false) =>
    (results.value = new Map(results.value).set(call, { text, isFailure }));
  const method = isGlobal(call) ? widgetGlobal(call.name) : widgetApi()?.[call.name];
  if (method === undefined) return void show("The widget's script has not been loaded.", true);
  if (call.takesCallback) {
    show("waiting for the callback");
    method(...call.args, (...args: unknown[]) =>
      show(`callback(${args.map(formatLiteral).join(", ")})`, hasFailed(args.at(0))),
    );
    return;
  }
  const result = method(...call.args);
  show(formatLiteral(result), hasFailed(result));
}

const hasFailed = (result: unknown) =>
  typeof result === "object" && result !== null && (result as { result?: unknown }).result === "fail";

/** The callbacks that the widget has called, from the newest to the oldest. */
export const callbackCalls = signal<readonly CallbackCall[]>([]);

export function recordCallbacks(): void {
  declareCallbacks((name, args) => {
    const number = (callbackCalls.peek()[0]?.number ?? 0) + 1;
    const text = `${name}(${args.map(formatLiteral).join(", ")})`;
    callbackCalls.value = [{ number, at: Date.now(), text }, ...callbackCalls.peek()].slice(0, MAX_CALLBACK_CALLS);
  });
}
