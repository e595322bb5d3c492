import { signal } from "@preact/signals";
import { tabStorage } from "../../ui/storage";
import { effect } from "@preact/signals";
import { TABS, type Tab } from "./chats";

/** What floats over the console. One at a time. */
export type Overlay =
  | { kind: "palette" }
  | { kind: "keys" }
  | { kind: "canned" }
  | { kind: "sign-out" }
  | { kind: "channel" }
  | { kind: "transfer" | "close" | "file"; chatId: number }
  | { kind: "erase"; chatId: number; number: number; name: string };

export const overlay = signal<Overlay | undefined>(undefined);
export const closeOverlay = () => {
  overlay.value = undefined;
};

const storedTab = tabStorage.read<Tab>("tab");
export const activeTab = signal<Tab>(storedTab !== undefined && TABS.includes(storedTab) ? storedTab : "waiting");
effect(() => tabStorage.write("tab", activeTab.value));

/** The words in the search field. */
export const searchQuery = signal("");
/** Where the visitor pane does not fit: whether it is shown over the conversation. */
export const isVisitorOverlayOpen = signal(false);
/** Asks the composer of a chat for the focus; it is kept until that composer is there. */
export const composerFocusRequest = signal<{ chatId: number; kind: "reply" | "note" } | undefined>(undefined);
export const focusComposer = (chatId: number, kind: "reply" | "note" = "reply") => {
  composerFocusRequest.value = { chatId, kind };
};
