import { effect, signal } from "@preact/signals";
import { tabStorage } from "../../ui/storage";
import type { CreatedChannel } from "../channels/add-channel-dialog";
import { TABS, type Tab } from "./chats";

/** The dialog or palette that is open on top of the console. At most one is open at a time. */
export type Overlay =
  | { kind: "palette" }
  | { kind: "shortcuts" }
  | { kind: "canned" }
  | { kind: "sign-out" }
  /** `onCreated` is called after an API channel has been created. */
  | { kind: "channel"; onCreated?: (channel: CreatedChannel) => void }
  | { kind: "transfer" | "close" | "file" | "export" | "call"; chatId: number };

export const overlay = signal<Overlay | undefined>(undefined);
export const closeOverlay = () => {
  overlay.value = undefined;
};

const storedTab = tabStorage.read<Tab>("tab");
export const activeTab = signal<Tab>(storedTab !== undefined && TABS.includes(storedTab) ? storedTab : "waiting");
effect(() => tabStorage.write("tab", activeTab.value));

/** The text in the inbox's search field. */
export const searchQuery = signal("");
/** Whether the visitor pane covers the conversation. Used only on narrow screens. */
export const isVisitorPaneOverlayOpen = signal(false);
/** The chat whose composer should receive the focus, for a reply or a note. Undefined once it has the focus. */
export const composerFocusRequest = signal<{ chatId: number; kind: "reply" | "note" } | undefined>(undefined);
export const focusComposer = (chatId: number, kind: "reply" | "note" = "reply") => {
  composerFocusRequest.value = { chatId, kind };
};
