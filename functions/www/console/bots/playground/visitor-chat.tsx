import type { RefObject } from "preact";
import type { WidgetChannel } from "../../../api/types";
import { channelRoute } from "../../state/page/page-routes";
import { hrefOf } from "../../state/page/route";
import { useWorkspace } from "../../workspace-context";
import { ChatProblem } from "./chat-problem";
import { visitorNameOf } from "./kept-conversations";
import type { PlaygroundConversation } from "./playground-conversation";
import { VisitorComposer } from "./visitor-composer";
import { VisitorLog } from "./visitor-log";
import { rich, t } from "../../../texts/translate";

interface VisitorChatProps {
  conversation: PlaygroundConversation;
  channel: WidgetChannel;
  textarea: RefObject<HTMLTextAreaElement | null>;
}

/** The chat as the visitor has it. */
export function VisitorChat({ conversation, channel, textarea }: VisitorChatProps) {
  const workspace = useWorkspace();
  const settings = hrefOf(channelRoute(channel.channel_id));
  return (
    <section class="playground-chat" aria-label={t`Chat as a visitor`}>
      <p class="playground-note">
        {rich`This is a real conversation on the channel ${(<b dir="auto">{channel.name}</b>)}. Agents see it as “${visitorNameOf(workspace)}” and can take it over, and it counts in the reports.`}
      </p>
      {!channel.enabled && (
        <p class="notice bad">
          <span>{t`The channel is switched off: its visitors cannot write.`}</span>
          <a class="btn line" href={settings}>
            {t`Channel settings`}
          </a>
        </p>
      )}
      <VisitorLog conversation={conversation} />
      <ChatProblem conversation={conversation} settings={settings} />
      <VisitorComposer textarea={textarea} onSend={(text) => void conversation.send(text)} />
    </section>
  );
}
