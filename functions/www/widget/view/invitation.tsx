/** @jsxImportSource #widget */
import { Avatar } from "./avatar";
import type { Props } from "./props";
import { CrossIcon } from "./icons";

/** An invitation, shown beside the widget's round button while the window is closed. */
export function InvitationBubble({ state, actions }: Props) {
  const { invitation, texts, settings } = state;
  if (!invitation) return null;
  const person = invitation.agent ?? { name: settings.title, photo: settings.avatar };
  return (
    <div class="invitation" role="status">
      <button type="button" class="body" onClick={actions.open}>
        <Avatar person={person} state={state} actions={actions} />
        <span>
          <small>{person.name}</small>
          <span dir="auto">{invitation.text}</span>
        </span>
      </button>
      <button type="button" class="icon dismiss" aria-label={texts.dismiss} onClick={actions.dismissInvitation}>
        <CrossIcon />
      </button>
    </div>
  );
}
