/* The bodies of the endpoints below /widget/{widget_id}/ and the frames of a visitor's socket. */

export type Mode = "online" | "offline";
export type ContactField = "name" | "email" | "phone";

export interface Settings {
  color: string;
  color2: string | null;
  theme: "system" | "light" | "dark";
  position: "right" | "left";
  launcher: Launcher;
  title: string;
  greeting: string | null;
  avatar: string | null;
  /** A language, or "auto" for that of the page or the browser. */
  language: string;
  /** Replacements of single texts. */
  texts: Record<string, string>;
  contacts_form: {
    when: "never" | "before_first_message" | "after_first_message";
    fields: ContactField[];
    required: ContactField[];
    custom_fields: CustomFieldSetting[];
  };
  rating: boolean;
  sound: boolean;
  /** Whether agents see what the visitor is typing. */
  typing_preview: boolean;
  /** The time in which agents usually answer. */
  reply_time: "minutes" | "hours" | "day" | null;
}

/** The button that opens the window. */
export interface Launcher {
  /** Whether the button is not shown, because the page has its own. */
  hidden: boolean;
  /** The distances from the edges of the page in pixels. */
  offset_x: number;
  offset_y: number;
  z_index: number;
}

/** A question of the account. */
export interface CustomFieldSetting {
  key: string;
  label: string;
  type: "text" | "select" | "consent";
  options: string[];
  /** The address of the text that the visitor agrees to. */
  link: string | null;
  required: boolean;
}

/** The answers to the account's questions by their keys. True means that the visitor has agreed. */
export type Answers = Record<string, string | true>;

export interface Person {
  name: string;
  photo?: string | null;
}

/** An agent who is online. */
export interface OnlineAgent extends Person {
  department_ids?: number[];
}

export interface ContactInfo {
  client_name: string | null;
  email: string | null;
  phone: string | null;
  description: string | null;
}

export interface CustomField {
  content: string | number;
  title?: string | number | undefined;
  link?: string | undefined;
  key?: string | number | undefined;
}

export interface Visitor {
  /** Only in the response that created the visitor. */
  token?: string;
  number: number | string;
  contact_info: ContactInfo;
  custom_data: CustomField[];
}

export interface Chat {
  chat_id: number;
  state: "bot" | "waiting" | "active" | "closed";
  /** `joined_at` is when the agent got the chat, as Unix time of the service in milliseconds. */
  agent: { name: string; photo?: string | null; joined_at?: number } | null;
  last_seq: number;
  rated?: boolean;
  rate?: "positive" | "negative" | null;
  /** When an agent last edited or deleted a message, as Unix time in milliseconds. */
  messages_changed_at?: number;
}

export interface Button {
  text: string;
  id?: ButtonId;
}

export type ButtonId = string | number;

export interface Message {
  seq: number;
  chat_id: number;
  /** Unix time in milliseconds. */
  at: number;
  from: "visitor" | "agent" | "bot";
  type: string;
  text?: string;
  content?: string;
  title?: string;
  buttons?: Button[];
  file?: string;
  thumb?: string;
  emoji?: string;
  file_name?: string;
  file_size?: number;
  duration?: number;
  width?: number;
  height?: number;
  performer?: string;
  latitude?: number;
  longitude?: number;
  name?: string;
  photo?: string | null;
  /** When the agent last edited the message. */
  edited_at?: number;
  /** When the message was deleted. It has no text then. */
  deleted_at?: number;
  /** Only in the response to a message of the visitor. */
  message_id?: string;
}

/** A phone call between an agent and the visitor. */
export interface Call {
  type: "callback" | "incoming" | "outgoing";
  phone: string;
  status: "start" | "agent_connected" | "client_connected" | "end" | "error";
  /** Only if the status is error. */
  reason?: string;
}

export interface Session {
  widget: Settings;
  rules: unknown;
  mode: Mode;
  /** When the business hours begin, in Unix seconds. Absent within them. */
  opens_at?: number;
  /** The position of the waiting chat in the queue. */
  queue_position?: number;
  /** Whether a bot answers new chats, also while no agent is online. */
  bot: boolean;
  /** Whether the visitor must be told that a bot answers. */
  bot_disclosure: boolean;
  departments: { id: number; name: string }[];
  agents: OnlineAgent[];
  visitor: Visitor | null;
  chat: Chat | null;
  messages: Message[];
  /** The call in progress. */
  call: Call | null;
  has_earlier: boolean;
  callback: boolean;
  /** Whether the visitor can ask for a callback now. */
  callback_available: boolean;
  /** Whether the account accepts files. */
  files?: boolean;
}

/** Messages before those that the visitor has. */
export interface Earlier {
  messages: Message[];
  has_earlier: boolean;
}

export interface PageInfo {
  url: string;
  title: string;
}

export interface VisitorUpdate {
  contact_info?: Partial<Record<ContactField | "description", string>>;
  answers?: Answers;
  source?: "visitor" | "script";
  custom_data?: CustomField[];
  /** Null ends the user's identity. */
  user_token?: string | null;
  page?: PageInfo;
  utm?: Record<string, string>;
  analytics?: { ga: string | null; ym: string | null };
  clear_history?: true;
}

export type Frame =
  | { type: "message"; chat_id: number; message: Message }
  | { type: "chat"; chat_id: number; chat: Chat }
  | { type: "typing"; chat_id: number; from: "agent" | "bot"; typing: boolean }
  /** The whole text so far of the answer that the bot is writing. */
  | { type: "growing"; chat_id: number; seq: number; name: string; growing: string }
  | { type: "call"; chat_id: number; seq: number; call: Call }
  /** The first agent has come, or the last one has left. */
  | { type: "mode"; mode: Mode; agents?: OnlineAgent[] }
  /** The agent has seen the visitor's messages up to a number. */
  | { type: "seen"; chat_id: number; seq: number }
  | { type: "incomplete" };
