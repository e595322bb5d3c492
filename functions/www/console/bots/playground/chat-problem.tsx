import { hasStatus } from "../../../api/client";
import type { PlaygroundConversation } from "./playground-conversation";
import { problemText } from "./problem-text";
import { t } from "../../../texts/translate";

interface ChatProblemProps {
  conversation: PlaygroundConversation;
  /** The address of the channel's page. */
  settings: string;
}

/** Why the visitor's last message was not sent, or why the answers cannot be read. */
export function ChatProblem({ conversation, settings }: ChatProblemProps) {
  const { sendProblem, readProblem } = conversation;
  const isUnsent = sendProblem.value !== undefined;
  const problem = sendProblem.value ?? readProblem.value;
  if (problem === undefined) return null;
  return (
    <p class="notice bad" role="alert">
      <span>
        {isUnsent ? t`The message was not sent.` : t`The answers could not be read.`}{" "}
        {problemText(problem, location.hostname)}
      </span>
      {hasStatus(problem, 403, 404) && (
        <a class="btn" href={settings}>
          {t`Channel settings`}
        </a>
      )}
      <button
        type="button"
        class="btn line"
        onClick={() => void (isUnsent ? conversation.sendAll() : conversation.read())}
      >
        {t`Try again`}
      </button>
    </p>
  );
}
