import { effect, signal } from "@preact/signals";
import { tabStorage } from "../../../ui/storage";
import { TABS, type Tab } from "./chats";

/** An API channel that has just been created, with what is shown only once. */
export interface CreatedChannel {
  name: string;
  endpoint: string;
  signingSecret: string;
}

/** The dialog or palette that is open on top of the console. At most one is open at a time. */
export type Overlay =
  | { kind: "palette" }
  | { kind: "shortcuts" }
  | { kind: "canned" }
  | { kind: "own-account" }
  | { kind: "sign-out" }
  /** `onCreated` is called after an API channel has been created. */
  | { kind: "channel"; onCreated?: (channel: CreatedChannel) => void }
  /** Changes of all selected chats. */
  | { kind: "bulk-tags" | "bulk-transfer" | "bulk-close" }
  | { kind: "delete-message"; chatId: number; seq: number }
  | { kind: "transfer" | "close" | "file" | "export" | "call" | "tags" | "snooze" | "send-later"; chatId: number };

export const overlay = signal<Overlay | undefined>(undefined);
export const closeOverlay = () => {
  overlay.value = undefined;
};

const storedTab = tabStorage.read<Tab>("tab");
export const activeTab = signal<Tab>(storedTab !== undefined && TABS.includes(storedTab) ? storedTab : "waiting");
effect(() => tabStorage.write("tab", activeTab.value));

/** Whether the agent chooses a filter for the inbox's list. */
export const isFilterOpen = signal(false);
/** The text in the inbox's search field. */
export const searchQuery = signal("");
/** The pictures of visitors that the agent has chosen to load. The server of a picture learns the agent's address, so
 * no picture of a visitor is loaded by itself. */
export const loadedPhotos = signal<ReadonlySet<string>>(new Set());
/** Whether the visitor pane covers the conversation. Used only on narrow screens. */
export const isVisitorPaneOverlayOpen = signal(false);

const PANE_STATE = "visitor pane";

/** Covers the conversation with the visitor pane. It is an entry in the browser's history, so Back closes the pane. */
export function openVisitorPane(): void {
  if (isVisitorPaneOverlayOpen.peek()) return;
  isVisitorPaneOverlayOpen.value = true;
  history.pushState(PANE_STATE, "");
}

export function closeVisitorPane(): void {
  if (!isVisitorPaneOverlayOpen.peek()) return;
  isVisitorPaneOverlayOpen.value = false;
  if (history.state === PANE_STATE) history.back();
}

export const toggleVisitorPane = () => (isVisitorPaneOverlayOpen.peek() ? closeVisitorPane() : openVisitorPane());

/** Closes the visitor pane when the browser goes back. Returns a function that stops this. */
export function followBackButton(): () => void {
  const onPopState = () => {
    isVisitorPaneOverlayOpen.value = history.state === PANE_STATE;
  };
  addEventListener("popstate", onPopState);
  return () => removeEventListener("popstate", onPopState);
}
/** The chat whose composer should receive the focus, for a reply or a note. Undefined once it has the focus. */
export const composerFocusRequest = signal<{ chatId: number; kind: "reply" | "note" } | undefined>(undefined);
export const focusComposer = (chatId: number, kind: "reply" | "note" = "reply") => {
  composerFocusRequest.value = { chatId, kind };
};

/** Forgets what the agent has opened, searched for and loaded. */
export function resetViewState(): void {
  closeOverlay();
  searchQuery.value = "";
  isFilterOpen.value = false;
  loadedPhotos.value = new Set();
  isVisitorPaneOverlayOpen.value = false;
  composerFocusRequest.value = undefined;
}
