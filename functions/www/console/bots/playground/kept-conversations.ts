import { ApiClient } from "../../../api/client";
import type { Workspace } from "../../state/workspace";
import { PlaygroundConversation } from "./playground-conversation";
import { t } from "../../../texts/translate";

/** The client of the visitor, which does not send the admin's token. */
const visitorApi = new ApiClient(() => undefined);

const kept = new WeakMap<Workspace, Map<string, PlaygroundConversation>>();

/** Returns the conversations of the signed-in admin by bot and channel. They are kept while another page is open, for
 * example the chat in the inbox, and are lost when the browser's tab is closed. */
export function keptConversationsOf(workspace: Workspace): Map<string, PlaygroundConversation> {
  const conversations = kept.get(workspace) ?? new Map<string, PlaygroundConversation>();
  kept.set(workspace, conversations);
  return conversations;
}

export const visitorNameOf = ({ me }: Workspace) => t`Playground (${me.name})`;

/** Returns a new conversation, which begins with the first message. */
export const newConversation = (workspace: Workspace, widgetId: string) =>
  new PlaygroundConversation(visitorApi, widgetId, visitorNameOf(workspace), {
    url: location.href,
    title: t`Playground`,
  });
