/** Types of the Switchboard chat widget. Each method is described in docs/widget.md of the service. */

export type Ok = { result: "ok" };
export type Failure = { result: "fail"; reason: string };
export type Result = Ok | Failure;
export type OfflineResult = Ok | { result: "fail"; error: string };
export type Mode = "online" | "offline";
export type WidgetState = "label" | "chat" | "chat/min" | "call" | "chat/call" | "offline/success";

export interface ContactInfo {
  client_name: string | null;
  email: string | null;
  phone: string | null;
  description: string | null;
}

export interface ContactFields {
  name?: string | number | null;
  email?: string | null;
  phone?: string | number | null;
  description?: string | null;
}

export interface CustomField {
  content: string | number;
  title?: string | number;
  link?: string;
  key?: string | number;
}

export interface OfflineMessage extends ContactFields {
  message: string;
}

export interface Rule {
  name: string;
  enabled: boolean;
  type: "all";
  conditions: { condition: string; value: unknown; comparator?: string }[];
  commands: { command: string; params: Record<string, unknown> }[];
}

export interface Utm {
  source: string | null;
  campaign: string | null;
  content: string | null;
  medium: string | null;
  term: string | null;
}

/** The object `widget_api`. */
export interface WidgetApi {
  open(options?: { start?: "menu" | "chat" | "call" }): Result;
  close(): Result;
  chatMode(): Mode;
  getContactInfo(): ContactInfo;
  setContactInfo(fields: ContactFields): Result;
  getVisitorNumber(callback: (error: string | null, number: number | null) => void): void;
  setCustomData(fields: CustomField[]): Result;
  setClientAttributes(attributes: Record<string, string | number | null>): Result;
  setUserToken(token: string | null): { result: "ok" | "fail"; token?: unknown; reason?: string };
  setRules(rules: Rule[]): Result;
  showProactiveInvitation(text: string, departmentId?: number): Result;
  sendOfflineMessage(message: OfflineMessage, report?: (result: OfflineResult) => void): OfflineResult;
  startCall(phone: string): Result;
  isCallbackEnabled(callback: (result: Result) => void): void;
  setWidgetColor(color: string, color2?: string): Result;
  sendPageTitle(title: string, fromApi?: boolean, url?: string): Result;
  getUnreadMessagesCount(): number;
  getUtm(): Utm;
  clearHistory(): Result;
}

/** The functions that the page may declare. */
export interface WidgetCallbacks {
  onLoadCallback(): void;
  onOpen(): void;
  onClose(): void;
  onMessageSent(): void;
  onMessageReceived(): void;
  onClientStartChat(): void;
  onAccept(): void;
  onIntroduction(): void;
  onCallStart(): void;
  onCallEnd(result: Result): void;
  onResizeCallback(): void;
  onChangeState(state: WidgetState): void;
  onWidgetDestroy(): void;
}

export interface LoadOptions {
  /** The URL of the service, for example https://api.example.com. */
  url: string;
  /** The id of the widget. */
  id: string;
  /** The prefix of the global names, "widget" by default. Two widgets on a page need two prefixes. */
  prefix?: string;
  /** The nonce of the page's Content-Security-Policy. */
  nonce?: string;
  /** Functions to be called by the widget. They replace functions of the same name that were given before. */
  on?: Partial<WidgetCallbacks>;
}

/**
 * Loads the widget, unless it is loaded already. The promise is fulfilled with the API as soon as calls are possible;
 * the widget appears a moment later. It is rejected if the script cannot be loaded. On a server, it stays pending.
 */
export function load(options: LoadOptions): Promise<WidgetApi>;

/** Removes the widget. `load` adds it again. */
export function destroy(prefix?: string): void;
