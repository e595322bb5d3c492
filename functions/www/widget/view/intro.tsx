/** @jsxImportSource #widget */
import { isAnswer } from "../chat/conversation";
import type { State } from "../state";

/** Says who answers, and how fast. */
export function Intro({ state }: { state: State }) {
  const { texts, agents, hasBot, language } = state;
  const names = hasBot ? texts.bot : new Intl.ListFormat(language).format(agents.map(({ name }) => name));
  return (
    <>
      {names && <p dir="auto">{names}</p>}
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
