import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { WidgetChannel } from "../../../api/types";
import { Segments } from "../../../ui/form-fields";
import { Icon } from "../../../ui/icons";
import { DetailHeader } from "../../admin/detail-header";
import { BotEvents } from "./bot-events";
import { useConversation } from "./use-conversation";
import { useUpdates } from "./use-updates";
import { VisitorChat } from "./visitor-chat";
import { t } from "../../../texts/translate";

type Pane = "chat" | "events";
const PANES = [
  { value: "chat", label: t`Chat` },
  { value: "events", label: t`Events` },
] as const;

interface PlaygroundProps {
  botId: string;
  channel: WidgetChannel;
  header: Pick<Parameters<typeof DetailHeader>[0], "name" | "list">;
  /** The choice of another channel, if there is one. */
  choice: ComponentChildren;
}

/** The conversation on the left, and the bot's events on the right. A small window shows one of them. */
export function Playground({ botId, channel, header, choice }: PlaygroundProps) {
  const { conversation, startAgain } = useConversation(botId, channel.channel_id);
  const [pane, setPane] = useState<Pane>("chat");
  const textarea = useRef<HTMLTextAreaElement>(null);
  useUpdates(conversation);
  const isEmpty = conversation.messages.value.length + conversation.unsent.value.length === 0;
  return (
    <div class={`detail-page playground shows-${pane}`}>
      <DetailHeader {...header}>
        {choice}
        <button
          type="button"
          class="btn line"
          aria-disabled={isEmpty}
          onClick={() => {
            if (isEmpty) return;
            startAgain();
            setPane("chat");
            textarea.current?.focus();
          }}
        >
          <Icon name="refresh-cw" />
          {t`Start again`}
        </button>
        <Segments name="pane" label={t`What is shown`} value={pane} options={PANES} hidesLabel onChange={setPane} />
      </DetailHeader>
      <VisitorChat conversation={conversation} channel={channel} textarea={textarea} />
      <BotEvents conversation={conversation} />
    </div>
  );
}
