/** @jsxImportSource #widget */
import type { Rate } from "../state";
import type { Props } from "./props";
import { GoodIcon } from "./icons";

/** Asks how the conversation was, after the end of a chat in which an agent took part. */
export function Rating({ state, actions }: Props) {
  const { conversation, settings, texts, rate } = state;
  const { chat, messages } = conversation;
  const hadAgent = messages.some(({ from, chat_id }) => from === "agent" && chat_id === chat?.chat_id);
  if (!settings.rating || chat?.state !== "closed" || !hadAgent || conversation.pending.length > 0) return null;
  // A rating that was given on an earlier page is not asked for again.
  if (chat.rated && rate === null) return null;
  const button = (value: Rate, label: string) => (
    <button type="button" class={value} aria-pressed={rate === value} onClick={() => actions.rate(value)}>
      <GoodIcon />
      {label}
    </button>
  );
  return (
    <div class="rating" role="group" aria-label={texts.rate}>
      <p>{rate === null ? texts.rate : texts.rated}</p>
      {button("positive", texts.good)}
      {button("negative", texts.bad)}
    </div>
  );
}
