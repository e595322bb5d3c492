/** @jsxImportSource #widget */
import { isRatedHere, rateOf, type Rate, type State } from "../state";
import type { Props } from "./props";
import { GoodIcon } from "./icons";

/** Asks how the conversation was, after the end of a chat in which an agent took part. */
export function Rating({ state, actions }: Props) {
  const { conversation, settings, texts } = state;
  const { chat, pending } = conversation;
  if (!settings.rating || chat?.state !== "closed" || !hadAgent(state) || pending.length > 0) return null;
  // A rating that was given on an earlier page is not asked for again.
  if (chat.rated && !isRatedHere(state)) return null;
  return (
    <div class="rating" role="group" aria-label={texts.rate}>
      <p>{rateOf(state) === null ? texts.rate : texts.rated}</p>
      <RateButton rate="positive" label={texts.good} state={state} actions={actions} />
      <RateButton rate="negative" label={texts.bad} state={state} actions={actions} />
    </div>
  );
}

/** Lets the visitor rate an open chat as soon as an agent has joined it. */
export function OpenChatRating({ state, actions }: Props) {
  const { conversation, settings, texts } = state;
  const hasJoined = conversation.chat?.agent || hadAgent(state);
  if (!settings.rating || !conversation.isChatOpen || !hasJoined) return null;
  return (
    <span class="rating" role="group" aria-label={texts.rate}>
      <RateButton rate="positive" label={texts.good} isSmall state={state} actions={actions} />
      <RateButton rate="negative" label={texts.bad} isSmall state={state} actions={actions} />
    </span>
  );
}

const hadAgent = ({ conversation: { chat, messages } }: State) =>
  messages.some(({ from, chat_id }) => from === "agent" && chat_id === chat?.chat_id);

function RateButton({
  rate,
  label,
  isSmall,
  state,
  actions,
}: Props & { rate: Rate; label: string; isSmall?: boolean }) {
  const hint = isSmall ? label : undefined;
  return (
    <button
      type="button"
      class={rate}
      aria-pressed={rateOf(state) === rate}
      aria-label={hint}
      title={hint}
      onClick={() => actions.rate(rate)}
    >
      <GoodIcon />
      {!isSmall && label}
    </button>
  );
}
