/* The actions of a macro, which is a canned reply that also tags, transfers or closes the chat. */

import type { ReplyActions } from "../../../api/types";
import { toast } from "../../../ui/toast";
import { visitorName } from "../list/chats";
import { errorText } from "../page/error-text";
import { openChat } from "../page/route";
import type { People, Roster } from "../agent/roster";
import type { ChatHeaders } from "./chat-headers";
import type { Organizing } from "./organizing";
import type { Ownership } from "./ownership";
import { t } from "../../../texts/translate";

type Recipient = NonNullable<ReplyActions["transfer_to"]>;

/** Carries out the actions of a reply after the service has stored the message. */
export class MacroRunner {
  /** Closes the chat, unless the agent has begun another message in it. */
  onClose: (chatId: number) => void = () => {};
  /** Leaves the chat, because it is about to be transferred. */
  onTransfer: (chatId: number) => void = () => {};

  constructor(
    private readonly organizing: Organizing,
    private readonly ownership: Ownership,
    private readonly headers: ChatHeaders,
    private readonly roster: Roster,
  ) {}

  /** Stops at the first action that fails, so that a chat does not leave the agent without its tag. The agent is told
   * of the failure. Tags that have been deleted are left out. */
  async run(chatId: number, actions: ReplyActions): Promise<void> {
    const known = actions.add_tags.filter((id) => this.roster.tags.peek().some((tag) => tag.tag_id === id));
    if (known.length > 0 && !(await this.organizing.addTags(chatId, known))) return;
    if (actions.transfer_to !== undefined) await this.transfer(chatId, actions.transfer_to);
    else if (actions.close) this.onClose(chatId);
  }

  private async transfer(chatId: number, to: Recipient): Promise<void> {
    const row = this.headers.peek(chatId);
    const name = row === undefined ? undefined : visitorName(row);
    const recipient = recipientName(to, this.roster.people.peek());
    // The agent goes on at once: a transferred chat that is still open could be accepted again by mistake.
    this.onTransfer(chatId);
    try {
      await this.ownership.transfer(chatId, to);
      const isKnown = name !== undefined && recipient !== undefined;
      toast(isKnown ? t`${name} is with ${recipient} now.` : t`The chat was transferred.`);
    } catch (error) {
      const action = { label: t`Open`, run: () => openChat(chatId) };
      const reason = errorText(error);
      toast(
        name === undefined ? t`The chat was not transferred. ${reason}` : t`${name} was not transferred. ${reason}`,
        { isBad: true, action },
      );
    }
  }
}

/** Describes what a macro does besides sending its text. */
export function describeActions(actions: ReplyActions, people: People | undefined): string[] {
  const names = actions.add_tags.flatMap((id) => people?.tags?.find((tag) => tag.tag_id === id)?.name ?? []);
  return [
    ...(names.length === 0 ? [] : [t`Tag ${names.join(", ")}`]),
    ...(actions.transfer_to === undefined ? [] : [describeTransfer(actions.transfer_to, people)]),
    ...(actions.close ? [t`Close`] : []),
  ];
}

function describeTransfer(to: Recipient, people: People | undefined): string {
  const name = recipientName(to, people);
  if (name !== undefined) return t`Transfer to ${name}`;
  if ("agent_id" in to) return t`Transfer to an agent`;
  return "department_id" in to ? t`Transfer to a department` : t`Transfer to a bot`;
}

/** Returns undefined for a recipient that is not known, because it was deleted or the people are not loaded. */
function recipientName(to: Recipient, people: People | undefined): string | undefined {
  const byId = (named: readonly { id: number; name: string }[] | undefined, id: number) =>
    named?.find((one) => one.id === id)?.name;
  if ("agent_id" in to) return byId(people?.agents, to.agent_id);
  if ("department_id" in to) return byId(people?.departments, to.department_id);
  return people?.bots?.find((bot) => bot.bot_id === to.bot_id)?.name;
}
