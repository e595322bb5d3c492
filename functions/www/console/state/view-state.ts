import { signal } from "@preact/signals";
import { ofThisTab } from "../../ui/storage";
import { effect } from "@preact/signals";
import { TABS, type Tab } from "./chats";

/** What floats over the console. One at a time. */
export type Floating =
  | { kind: "palette" }
  | { kind: "keys" }
  | { kind: "canned" }
  | { kind: "sign-out" }
  | { kind: "channel" }
  | { kind: "transfer" | "close" | "file"; chatId: number }
  | { kind: "erase"; chatId: number; number: number; name: string };

export const floating = signal<Floating | undefined>(undefined);
export const closeFloating = () => {
  floating.value = undefined;
};

const storedTab = ofThisTab.read<Tab>("tab");
export const tab = signal<Tab>(storedTab !== undefined && TABS.includes(storedTab) ? storedTab : "waiting");
effect(() => ofThisTab.write("tab", tab.value));

/** The words in the search field. */
export const query = signal("");
/** Where the visitor pane does not fit: whether it is shown over the conversation. */
export const isVisitorShown = signal(false);
/** Asks the composer of a chat for the focus; it is kept until that composer is there. */
export const composerRequest = signal<{ chatId: number; kind: "reply" | "note" } | undefined>(undefined);
export const askComposer = (chatId: number, kind: "reply" | "note" = "reply") => {
  composerRequest.value = { chatId, kind };
};
