/** @jsxImportSource #widget */
import type { Person } from "../service/types";
import { isAway, isWithBot, showsLog, type State } from "../state";
import { fill } from "../texts";
import { Avatar, personNamed } from "./avatar";
import { Composer } from "./composer";
import { ContactsForm, isContactsFormDue } from "./contacts-form";
import { CloseButton, Frame } from "./frame";
import type { Props } from "./props";
import { Intro, MAX_FACES } from "./intro";
import { Log } from "./log";
import { OfflineForm, OfflineSuccess } from "./offline-form";
import { OpenChatRating } from "./rating";

export function Window({ state, actions }: Props) {
  const { texts, screen } = state;
  return (
    <Frame state={state} actions={actions}>
      <Header state={state} actions={actions} />
      <p class="disconnected" role="status">
        {screen === "chat" &&
          (state.link === "none" ? texts.disconnected : state.link === "slow" ? texts.slow : state.call?.line)}
      </p>
      {screen === "chat" ? (
        <ChatScreen state={state} actions={actions} />
      ) : screen === "offline" ? (
        <>
          {showsLog(state) && <Log state={state} actions={actions} />}
          <OfflineForm state={state} actions={actions} />
        </>
      ) : screen === "call" ? (
        state.call?.screen
      ) : (
        <OfflineSuccess state={state} actions={actions} />
      )}
      <p class="foot">{fill(texts.powered, "Switchboard")}</p>
    </Frame>
  );
}

function ChatScreen({ state, actions }: Props) {
  const isFormDue = isContactsFormDue(state, "before_first_message");
  return (
    <>
      <Log state={state} actions={actions} />
      {state.isBotDisclosed && isWithBot(state) && <p class="disclosure">{state.texts.disclosure}</p>}
      {isFormDue ? (
        <ContactsForm state={state} actions={actions} />
      ) : isAway(state) && !state.conversation.isEmpty ? (
        <Away state={state} actions={actions} />
      ) : (
        <Composer state={state} actions={actions} />
      )}
    </>
  );
}

/** What stands below the messages of an earlier chat while nobody is online. */
const Away = ({ state: { texts }, actions }: Props) => (
  <div class="away-bar">
    <button type="button" class="main" onClick={actions.writeAnother}>
      {texts.leave}
    </button>
  </div>
);

/** Returns who is shown at the top: the agent of the chat, the agents who are online, or the picture of the settings. */
function facesOf(state: State): Person[] {
  const { agents, conversation, settings } = state;
  const { chat } = conversation;
  if (chat?.agent && chat.state !== "closed") return [personNamed(chat.agent.name, state)];
  if (agents.length > 0) return agents.slice(0, MAX_FACES);
  return settings.avatar ? [{ name: settings.title, photo: settings.avatar }] : [];
}

/** Says that nobody is there, and when the business hours begin. */
function awayText({ texts, language, opensAt }: State): string {
  if (opensAt === undefined) return texts.away;
  const format = new Intl.DateTimeFormat(language, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "numeric",
    minute: "2-digit",
  });
  return `${texts.away}. ${fill(texts.backAt, format.format(opensAt * 1000))}`;
}

function Header({ state, actions }: Props) {
  const { texts, settings, screen, mode, hasBot, formIntro, conversation } = state;
  const isForm = screen !== "chat";
  const faces = isForm ? [] : facesOf(state);
  const agent = conversation.isChatOpen ? conversation.chat?.agent : undefined;
  const title = isForm ? formIntro.title || texts.leave : (agent?.name ?? settings.title);
  const isOnline = mode === "online" || hasBot || !!agent;
  const team = mode === "online" ? texts.online : hasBot ? texts.bot : awayText(state);
  const isQueued = conversation.chat?.state === "waiting" && state.queuePosition !== undefined;
  const queue = isQueued ? fill(texts.queue, String(state.queuePosition)) : team;
  const status = agent ? settings.title : queue;
  // The first screen introduces the team.
  const isFirst = !isForm && conversation.isEmpty;
  return (
    <header class={isFirst ? "hero" : ""}>
      {(faces.length > 0 || isFirst) && (
        <span class="faces">
          {faces.map((person) => (
            <Avatar person={person} state={state} actions={actions} />
          ))}
        </span>
      )}
      <div>
        <h2>{title}</h2>
        {isForm ? (
          screen !== "offline/success" && <p>{formIntro.message || `${awayText(state)}. ${texts.leaveHint}`}</p>
        ) : (
          <p>
            <i class={isOnline ? "dot" : "dot away"} />
            {status}
          </p>
        )}
        {isFirst && <Intro state={state} />}
      </div>
      {!isForm && <OpenChatRating state={state} actions={actions} />}
      {!isForm && state.call?.button}
      <CloseButton state={state} actions={actions} />
    </header>
  );
}
