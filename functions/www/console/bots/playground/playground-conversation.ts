/* A conversation of the playground: an admin writes as a visitor of a widget. Everything is kept in memory, so that the
 * widget on a page of the same browser has another visitor. */

import { signal } from "@preact/signals";
import type { ApiClient } from "../../../api/client";
import type { WidgetMessage } from "../../../api/types";
import { randomId } from "../../../widget/chat/random-id";

/** A message that the service has not confirmed yet. */
export interface UnsentMessage {
  messageId: string;
  text: string;
  /** The id of the button that was pressed, if it has one. */
  buttonId: string | number | undefined;
}

export class PlaygroundConversation {
  /** What the visitor has written and got. */
  readonly messages = signal<readonly WidgetMessage[]>([]);
  readonly unsent = signal<readonly UnsentMessage[]>([]);
  /** Why the first unsent message was not sent. Undefined while it is being sent. */
  readonly sendProblem = signal<unknown>(undefined);
  /** Why the visitor's messages could not be read. */
  readonly readProblem = signal<unknown>(undefined);
  /** The visitor's chats, of which the last one is the current one: a message after the end of a chat opens another. */
  readonly chatIds = signal<readonly number[]>([]);

  private token: string | undefined;
  private isNamed = false;
  private isSending = false;

  /** `service` must not send the admin's token: an error 401 concerns the visitor. */
  constructor(
    private readonly service: ApiClient,
    private readonly widgetId: string,
    private readonly visitorName: string,
    private readonly page: { url: string; title: string },
  ) {}

  send(text: string, buttonId?: string | number): Promise<void> {
    this.unsent.value = [...this.unsent.peek(), { messageId: randomId(), text, buttonId }];
    return this.sendAll();
  }

  /** Sends the unsent messages one after the other, until one fails. */
  async sendAll(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    this.sendProblem.value = undefined;
    try {
      for (let next = this.unsent.peek()[0]; next !== undefined; next = this.unsent.peek()[0]) {
        await this.sendOne(next);
        this.unsent.value = this.unsent.peek().slice(1);
      }
    } catch (error) {
      this.sendProblem.value = error;
    } finally {
      this.isSending = false;
    }
  }

  /** Reads what the visitor sees. */
  async read(): Promise<void> {
    if (this.token === undefined) return;
    try {
      const { messages } = await this.service.post("/widget/{widget_id}/session", {
        ...this.path,
        body: { token: this.token },
      });
      this.add(messages);
      this.readProblem.value = undefined;
    } catch (error) {
      this.readProblem.value = error;
    }
  }

  private get path() {
    return { path: { widget_id: this.widgetId } };
  }

  /** Sends a message. A repeated request has the same id, so that the service stores the message once. */
  private async sendOne({ messageId, text, buttonId }: UnsentMessage): Promise<void> {
    const token = await this.identify();
    const { chat_id, message } = await this.service.post("/widget/{widget_id}/message", {
      ...this.path,
      body: {
        token,
        message_id: messageId,
        message: { type: "text", text, ...(buttonId === undefined ? {} : { button_id: buttonId }) },
        page: this.page,
      },
    });
    // The number is 0 if an agent has put the visitor on the blacklist, so that the message was dropped.
    if (chat_id !== 0 && !this.chatIds.peek().includes(chat_id)) this.chatIds.value = [...this.chatIds.peek(), chat_id];
    this.add([message]);
  }

  /** Returns the visitor's token. Creates and names the visitor before the first message, so that the bot and the agents
   * know the name from the start. */
  private async identify(): Promise<string> {
    const { service, path, page } = this;
    if (this.token === undefined) {
      const { visitor } = await service.post("/widget/{widget_id}/session", {
        ...path,
        body: { identify: true, page },
      });
      this.token = visitor?.token;
    }
    const { token } = this;
    if (token === undefined) throw new Error("the service has created no visitor");
    if (!this.isNamed) {
      const body = { token, contact_info: { name: this.visitorName }, source: "script" as const };
      await service.post("/widget/{widget_id}/visitor", { ...path, body });
      this.isNamed = true;
    }
    return token;
  }

  private add(added: readonly WidgetMessage[]): void {
    const known = new Map(this.messages.peek().map((message) => [messageKey(message), message]));
    for (const message of added) known.set(messageKey(message), message);
    this.messages.value = [...known.values()].sort((a, b) => a.chat_id - b.chat_id || a.seq - b.seq);
  }
}

export const messageKey = ({ chat_id, seq }: WidgetMessage) => `${chat_id}-${seq}`;
