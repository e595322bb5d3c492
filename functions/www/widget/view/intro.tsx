/** @jsxImportSource #widget */
import { isAnswer } from "../chat/conversation";
import type { State } from "../state";

/** The maximum number of agents on the first screen. */
export const MAX_FACES = 3;

/** Says who answers, the bot first, and how fast. */
export function Intro({ state }: { state: State }) {
  const { texts, agents, hasBot, mode, language } = state;
  // Without agents, the header already says that a bot answers, or that nobody does.
  if (mode === "offline") return null;
  const names = agents.slice(0, MAX_FACES).map(({ name }) => name);
  if (hasBot) names.unshift(texts.bot);
  return (
    <>
      {names.length > 0 && <p dir="auto">{new Intl.ListFormat(language).format(names)}</p>}
      <ReplyTime state={state} />
    </>
  );
}

/** Says how fast agents usually answer, until one has done so. */
export function ReplyTime({ state: { settings, texts, mode, conversation } }: { state: State }) {
  const times = { minutes: texts.replyMinutes, hours: texts.replyHours, day: texts.replyDay };
  const time = mode === "online" && settings.reply_time !== null && times[settings.reply_time];
  return time && !conversation.messages.some(isAnswer) ? <p class="reply-time">{time}</p> : null;
}
