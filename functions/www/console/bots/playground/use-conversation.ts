import { useState } from "preact/hooks";
import { toast } from "../../../ui/toast";
import { errorText } from "../../state/page/error-text";
import { useWorkspace } from "../../workspace-context";
import { keptConversationsOf, newConversation } from "./kept-conversations";
import { t } from "../../../texts/translate";

/** Returns the conversation with a bot on a channel, and a function that closes its chat and begins another
 * one with another visitor. */
export function useConversation(botId: string, channelId: string) {
  const workspace = useWorkspace();
  const key = `${botId}.${channelId}`;
  const begin = () => {
    const begun = newConversation(workspace, channelId);
    keptConversationsOf(workspace).set(key, begun);
    return begun;
  };
  const [conversation, setConversation] = useState(() => keptConversationsOf(workspace).get(key) ?? begin());
  const startAgain = () => {
    const chatId = conversation.chatIds.peek().at(-1);
    setConversation(begin());
    if (chatId === undefined) return;
    workspace.api.post("/agent/chats/{chat_id}/close", { path: { chat_id: chatId } }).catch((error: unknown) => {
      toast(t`Chat #${chatId} was not closed. ${errorText(error)}`, { isBad: true });
    });
  };
  return { conversation, startAgain };
}
