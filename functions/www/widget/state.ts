/* What the view shows. Actions change the state through the store, which renders the view once for changes that happen
   together. */

import { Conversation } from "./chat/conversation";
import type { ContactField, ContactInfo, Mode, OnlineAgent, Person, Settings } from "./service/types";
import type { Result } from "./api/arguments";
import type { Texts } from "./texts/texts";
import type { Child } from "./view/jsx/jsx-runtime";

export type Screen = "chat" | "offline" | "offline/success" | "call";
export type Rate = "positive" | "negative";

export interface Invitation {
  text: string;
  departmentId: number | undefined;
  agent: Person | null;
  at: number;
}

/** A line that only this visitor sees, for example from a trigger rule. */
export interface Notice {
  text: string;
  at: number;
}

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
  agents: OnlineAgent[];
  /** Whether visitors can ask for callbacks, at least at some times. */
  callback: boolean;
  conversation: Conversation;
  contact: ContactInfo;
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
  isDisconnected: boolean;
  /** Whether the visitor has filled or skipped the contacts form. */
  isContactsFormDone: boolean;
  /** The fields of the open form that have errors. */
  errors: Partial<Record<ContactField | "message", string>>;
  isBusy: boolean;
  /** The rating that the visitor has given or removed on this page. Undefined if the visitor has done neither. */
  rate: Rate | null | undefined;
  unread: number;
  /** The URLs of images, videos and audio files that could not be loaded. */
  broken: ReadonlySet<string>;
}

/** Returns the visitor's rating of the current chat. */
export const rateOf = ({ rate, conversation }: State): Rate | null =>
  rate === undefined ? (conversation.chat?.rate ?? null) : rate;

/** Returns the state of a widget whose window is closed, without a visitor. */
export function createState(
  parts: Pick<State, "settings" | "texts" | "language" | "mode" | "hasBot" | "agents" | "callback">,
): State {
  return {
    ...parts,
    conversation: new Conversation(),
    contact: { client_name: null, email: null, phone: null, description: null },
    isOpen: false,
    screen: "chat",
    formIntro: {},
    call: null,
    invitation: null,
    isInvitationOutside: false,
    notices: [],
    typingName: null,
    isDisconnected: false,
    isContactsFormDone: false,
    errors: {},
    isBusy: false,
    rate: undefined,
    unread: 0,
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
