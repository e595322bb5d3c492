/* Sample states of the widget for the preview. */

import type { Message, Person } from "../../widget/service/types";
import { createState, type State } from "../../widget/state";
import type { Texts } from "../../widget/texts";
import type { WidgetDraft } from "./widget-draft";
import { t, tIn } from "../../texts/translate";

/** The moments of a visit that the preview can show. */
export const PREVIEW_MOMENTS = [
  { value: "start", label: tIn("screen", "Start") },
  { value: "chat", label: t`Chat` },
  { value: "ended", label: t`Ended` },
  { value: "offline", label: t`Offline` },
  { value: "closed", label: t`Closed` },
] as const;
export type PreviewMoment = (typeof PREVIEW_MOMENTS)[number]["value"];

const CHAT_ID = 1;
const MINUTE_MS = 60_000;

interface Sample {
  language: string;
  texts: Texts;
  agent: Person;
  now: number;
}

export function previewState(moment: PreviewMoment, settings: WidgetDraft["settings"], sample: Sample): State {
  const { language, texts, agent, now } = sample;
  const isOffline = moment === "offline";
  const state = createState({
    settings,
    language,
    texts,
    mode: isOffline ? "offline" : "online",
    hasBot: false,
    isBotDisclosed: false,
    agents: isOffline || agent.name === "" ? [] : [agent],
    callback: false,
    isCallbackAvailable: false,
    opensAt: undefined,
  });
  state.isOpen = moment !== "closed";
  state.screen = isOffline ? "offline" : "chat";
  if (moment === "chat" || moment === "ended") {
    const chatState = moment === "ended" ? "closed" : "active";
    state.conversation.chat = { chat_id: CHAT_ID, state: chatState, agent, last_seq: 2 };
    state.conversation.add(sampleMessages(agent, now));
  }
  return state;
}

const sampleMessages = ({ name }: Person, now: number): Message[] => [
  {
    chat_id: CHAT_ID,
    seq: 1,
    at: now - 2 * MINUTE_MS,
    from: "visitor",
    type: "text",
    text: t`Hello! Does the blue jacket come in a larger size?`,
  },
  {
    chat_id: CHAT_ID,
    seq: 2,
    at: now - MINUTE_MS,
    from: "agent",
    name,
    type: "text",
    text: t`Yes, it does. Sizes up to XXL are in stock.`,
  },
];
