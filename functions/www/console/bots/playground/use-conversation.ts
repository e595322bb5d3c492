import { useState } from "preact/hooks";
import { toast } from "../../../ui/toast";
import { errorText } from "../../state/page/error-text";
import { useWorkspace } from "../../workspace-context";
import { keptConversationsOf, newConversation } from "./kept-conversations";
import type { PlaygroundConversation } from "./playground-conversation";

/** Returns the conversation with a bot on a channel, and a function that begins another one. */
export function useConversation(botId: string, channelId: string) {
  const workspace = useWorkspace();
  const key = `${botId}.${channelId}`;
  const [conversation, setConversation] = useState<PlaygroundConversation>(
    () => keptConversationsOf(workspace).get(key) ?? newConversation(workspace, channelId),
  );
  keptConversationsOf(workspace).set(key, conversation);
  const startAgain = () => {
    const chatId = conversation.chatIds.peek().at(-1);
    setConversation(newConversation(workspace, channelId));
    if (chatId === undefined) return;
    workspace.api.post("/agent/chats/{chat_id}/close", { path: { chat_id: chatId } }).catch((error: unknown) => {
      toast(`Chat #${chatId} was not closed. ${errorText(error)}`, { isBad: true });
    });
  };
  return { conversation, startAgain };
}
