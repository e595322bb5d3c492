/** @jsxImportSource #widget */
/* What stands beside the widget's round button while the window is closed: a new message, or an invitation. */

import { parseMarkdown, type Inline } from "../chat/markdown";
import type { Message, Person } from "../service/types";
import type { State } from "../state";
import { Avatar, personNamed } from "./avatar";
import { shortTime } from "./dates";
import { CrossIcon } from "./icons";
import type { Child } from "./jsx/jsx-runtime";
import { mediaName } from "./media";
import type { Actions } from "./props";

interface Content {
  kind: "preview" | "invitation";
  person: Person;
  time: string;
  text: string;
  dismiss: () => void;
}

export function Bubble({ state, actions }: { state: State; actions: Actions }): Child {
  const content = contentOf(state, actions);
  if (!content) return null;
  const { kind, person, time, text, dismiss } = content;
  return (
    <div key={kind} class={`beside ${kind}`}>
      <button type="button" class="body" onClick={actions.open}>
        <Avatar person={person} state={state} actions={actions} />
        <span>
          <small>
            <b>{person.name}</b> {time}
          </small>
          <span class="words" dir="auto">
            {text}
          </span>
        </span>
      </button>
      <button type="button" class="icon dismiss" aria-label={state.texts.dismiss} onClick={dismiss}>
        <CrossIcon />
      </button>
    </div>
  );
}

/** Returns what a screen reader says about the bubble. */
export function announcement(state: State, actions: Actions): string {
  const content = contentOf(state, actions);
  return content ? `${content.person.name}: ${content.text}` : "";
}

/** Whether a modal dialog of the page is open, over which no bubble must appear. */
const hasOpenDialog = () =>
  [...document.querySelectorAll("dialog:modal,[aria-modal='true']")].some(
    (dialog) => dialog.getClientRects().length > 0,
  );

/** Whether the state contains something for the bubble. */
export const hasBubble = ({ isOpen, preview, isInvitationOutside }: State): boolean =>
  !isOpen && (preview !== null || isInvitationOutside);

function contentOf(state: State, actions: Actions): Content | undefined {
  const { preview, invitation, settings, texts, language } = state;
  const team = { name: settings.title, photo: settings.avatar };
  if (!hasBubble(state) || hasOpenDialog()) return undefined;
  if (preview)
    return {
      kind: "preview",
      person: personOf(preview, state) ?? team,
      time: shortTime(preview.at, Date.now(), language),
      text: plainText(preview) || mediaName(preview, texts),
      dismiss: actions.dismissPreview,
    };
  if (!invitation) return undefined;
  return {
    kind: "invitation",
    person: invitation.agent ?? team,
    time: "",
    text: invitation.text,
    dismiss: actions.dismissInvitation,
  };
}

/** Returns who has written a message of the team, or undefined if the message does not say it. */
function personOf({ name, from }: Message, state: State): Person | undefined {
  const author = name || (from === "bot" ? state.texts.bot : state.conversation.chat?.agent?.name);
  return author ? personNamed(author, state) : undefined;
}

const textOf = (inline: Inline): string => (typeof inline === "string" ? inline : inline.children.map(textOf).join(""));

function plainText({ type, text, content, title }: Message): string {
  if (type === "markdown" && content) return parseMarkdown(content).map(textOf).join("");
  return text || title || "";
}
