/* What the view shows. Actions change the state through the store, which renders the view once for changes that happen
   together. */

import { Conversation, type ReadPosition } from "./chat/conversation";
import type { Link } from "./chat/live-connection";
import type { ContactInfo, Message, Mode, OnlineAgent, Person, Settings } from "./service/types";
import type { Result } from "./api/arguments";
import type { Texts } from "./texts";
import type { Child } from "./view/jsx/jsx-runtime";
import type { FormErrors } from "./visitor/contact-rules";

export type Screen = "chat" | "offline" | "offline/success" | "call";
export type Rate = "positive" | "negative";

export interface Invitation {
  text: string;
  departmentId: number | undefined;
  agent: Person | null;
  at: number;
  /** The last message before the invitation. */
  after: ReadPosition | undefined;
}

/** A line that only this visitor sees, for example from a trigger rule. */
export interface Notice {
  text: string;
  /** Unix time in milliseconds: that of the service if the notice reports what the service has done, and otherwise that
   * of the visitor's clock, which may be wrong. */
  at: number;
  /** The last message before the notice. Undefined if there is none, or if `at` is the time of the service. */
  after: ReadPosition | undefined;
  isServiceTime?: true;
}

/** A file that is being uploaded. */
export interface VisitorUpload {
  id: number;
  name: string;
  /** From 0 to 1. */
  progress: number;
  /** Why the upload has ended: the connection has broken, or the service does not accept the file. */
  problem: "broken" | "refused" | undefined;
}

/** The messages before those of the log: whether there are any ("more"), are being loaded, or could not be loaded. */
export type EarlierMessages = "none" | "more" | "loading" | "failed";

/** What the part of the widget that makes calls shows in the window. */
export interface CallView {
  /** The call form, or the progress of the call. */
  screen: Child;
  /** The button in the window's header that opens the call form. */
  button: Child;
  /** The progress of the call in one line, which is shown above the messages. */
  line: string;
  /** Why a call cannot be started now. */
  problem: Result | undefined;
}

export interface State {
  settings: Settings;
  texts: Texts;
  language: string;
  /** Whether agents are online. */
  mode: Mode;
  /** Whether a bot answers new chats, also while no agent is online. */
  hasBot: boolean;
  /** Whether the visitor must be told that a bot answers. */
  isBotDisclosed: boolean;
  agents: OnlineAgent[];
  /** Whether visitors can ask for callbacks, at least at some times. */
  callback: boolean;
  /** Whether the visitor could ask for a callback when the session was read. */
  isCallbackAvailable: boolean;
  /** When the business hours begin, in Unix seconds. Undefined within them. */
  opensAt: number | undefined;
  /** The position of the waiting chat in the queue. Undefined if the chat does not wait, or it is not known. */
  queuePosition: number | undefined;
  conversation: Conversation;
  contact: ContactInfo;
  /** Counts the persons at the browser. */
  person: number;
  isOpen: boolean;
  screen: Screen;
  /** The heading and the text of the call form, or those that a trigger rule has set for the offline form. */
  formIntro: { title?: string | undefined; message?: string | undefined };
  /** Null until calls are needed. */
  call: CallView | null;
  invitation: Invitation | null;
  /** Whether the invitation is shown beside the label, while the window is closed. */
  isInvitationOutside: boolean;
  notices: Notice[];
  typingName: string | null;
  /** The answer that the bot is writing. Null if there is none, or once the message has arrived. */
  growing: { name: string; text: string; isStopped: boolean } | null;
  /** How changes arrive. Null if nothing connects the widget with the service, because there is no open chat. */
  link: Link | null;
  earlier: EarlierMessages;
  /** Whether the visitor has filled or skipped the contacts form. */
  isContactsFormDone: boolean;
  /** Whether the visitor does not want to leave an address while waiting alone. */
  isAddressRefused: boolean;
  /** The fields of the open form that have errors. */
  errors: FormErrors;
  isBusy: boolean;
  /** The rating that the visitor has given or removed on this page, and its chat. */
  rate: { chatId: number; value: Rate | null } | undefined;
  unread: number;
  /** The last unread message, which is shown beside the label while the window is closed. Null if the visitor has
   * dismissed it. */
  preview: Message | null;
  /** Whether visitors may send files. */
  hasFiles: boolean;
  uploads: readonly VisitorUpload[];
  /** The URLs of images, videos and audio files that could not be loaded. */
  broken: ReadonlySet<string>;
}

/** Whether the visitor has given or removed the rating of the current chat on this page. */
export const isRatedHere = ({ rate, conversation }: State): boolean =>
  rate !== undefined && rate.chatId === conversation.chat?.chat_id;

/** Returns the visitor's rating of the current chat. */
export const rateOf = (state: State): Rate | null =>
  (isRatedHere(state) ? state.rate?.value : state.conversation.chat?.rate) ?? null;

/** Whether the visitor can write a message of the offline form only: nobody is online, and no chat is open. */
export const isAway = ({ mode, hasBot, conversation }: State): boolean =>
  mode === "offline" && !hasBot && !conversation.isChatOpen;

/** Whether the visitor writes with a bot, or will if he writes now. */
export const isWithBot = ({ hasBot, conversation }: State): boolean =>
  conversation.isChatOpen ? conversation.chat?.state === "bot" : hasBot;

/** Whether the visitor waits for an answer while nobody is online. */
export const isWaitingAlone = ({ mode, hasBot, conversation: { chat } }: State): boolean =>
  mode === "offline" && !hasBot && chat?.state === "waiting";

/** Whether the visitor, who waits alone, must be asked for an e-mail address or a phone number. */
export const isAddressNeeded = (state: State): boolean =>
  isWaitingAlone(state) && !state.contact.email && !state.contact.phone && !state.isAddressRefused;

/** Whether the window shows the messages: also above the offline form, if there are any. */
export const showsLog = ({ screen, conversation }: State): boolean =>
  screen === "chat" || (screen === "offline" && !conversation.isEmpty);

export const NO_CONTACT: ContactInfo = { client_name: null, email: null, phone: null, description: null };

/** Returns the state of a widget whose window is closed, without a visitor. */
export function createState(
  parts: Pick<
    State,
    | "settings"
    | "texts"
    | "language"
    | "mode"
    | "hasBot"
    | "isBotDisclosed"
    | "agents"
    | "callback"
    | "isCallbackAvailable"
    | "opensAt"
  >,
): State {
  return {
    ...parts,
    queuePosition: undefined,
    conversation: new Conversation(),
    contact: NO_CONTACT,
    person: 0,
    isOpen: false,
    screen: "chat",
    formIntro: {},
    call: null,
    invitation: null,
    isInvitationOutside: false,
    notices: [],
    typingName: null,
    growing: null,
    link: null,
    earlier: "none",
    isContactsFormDone: false,
    isAddressRefused: false,
    errors: {},
    isBusy: false,
    rate: undefined,
    unread: 0,
    preview: null,
    hasFiles: false,
    uploads: [],
    broken: new Set(),
  };
}

export class Store {
  #isScheduled = false;

  readonly #render: (state: State) => void;

  constructor(
    readonly state: State,
    render: (state: State) => void,
  ) {
    this.#render = render;
  }

  update(changes: Partial<State> = {}): void {
    Object.assign(this.state, changes);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#render(this.state);
    });
  }
}
