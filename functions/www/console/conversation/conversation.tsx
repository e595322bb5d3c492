import "./conversation.css";
import { hasStatus } from "../../api/client";
import type { ChatRow } from "../../api/types";
import { Icon } from "../../ui/icons";
import { useWorkspace } from "../workspace-context";
import { usePageTitle } from "../state/page/page-title";
import { openChat } from "../state/page/route";
import { rowFromDetails } from "../state/chat/chat-headers";
import { errorText } from "../state/page/error-text";
import { visitorName } from "../state/list/chats";
import { ConversationHeader } from "./conversation-header";
import { ConversationFooter } from "./footer";
import { MessageLog } from "./message-log";

/** Returns the chat's row from the chat lists. If no list contains the chat, builds the row from the chat's details.
 * Returns undefined if those are not loaded yet either. */
export function useChatRow(chatId: number): ChatRow | undefined {
  const { chats, timelines } = useWorkspace();
  const detail = timelines.open(chatId).chatDetails.value;
  return chats.row(chatId) ?? (detail ? rowFromDetails(detail) : undefined);
}

export function Conversation({ chatId }: { chatId: number | undefined }) {
  if (chatId === undefined) return <NoOpenChat />;
  return <OpenChat chatId={chatId} />;
}

function NoOpenChat() {
  const { chats } = useWorkspace();
  const waiting = chats.waiting.value;
  const [longestWaiting] = waiting;
  return (
    <section class="conversation" aria-label="Conversation">
      <div class="blank">
        <Icon name="messages-square" />
        <h2>
          {waiting.length > 0
            ? `${waiting.length} ${waiting.length === 1 ? "visitor is" : "visitors are"} waiting`
            : "No chat is open"}
        </h2>
        <p>
          Open one from the list, or press <kbd>j</kbd>. <kbd>?</kbd> shows all shortcuts.
        </p>
        {longestWaiting !== undefined && (
          <button type="button" class="btn primary" onClick={() => openChat(longestWaiting.chat_id)}>
            Open {visitorName(longestWaiting)}
          </button>
        )}
      </div>
    </section>
  );
}

function OpenChat({ chatId }: { chatId: number }) {
  const workspace = useWorkspace();
  const timeline = workspace.timelines.open(chatId);
  const row = useChatRow(chatId);
  const loadState = timeline.loadState.value;
  const name = row === undefined ? `Chat ${chatId}` : visitorName(row);
  usePageTitle(name);

  if (loadState === "failed") {
    const problem = timeline.problem.value;
    const isNotFound = hasStatus(problem, 404);
    const isForbidden = hasStatus(problem, 403);
    const wasTakenAway = timeline.wasTakenAway.value;
    return (
      <section class="conversation" aria-label="Conversation">
        <div class="blank bad" role="alert">
          <Icon name={isForbidden ? "lock" : isNotFound ? "message-square" : "wifi-off"} />
          <h2>
            {isForbidden
              ? "You cannot see this chat"
              : isNotFound
                ? wasTakenAway
                  ? "This chat was erased"
                  : "This chat does not exist"
                : "The chat cannot be loaded"}
          </h2>
          <p>
            {isForbidden
              ? "It belongs to a channel or a department that is not assigned to you. An admin can change that."
              : isNotFound && wasTakenAway
                ? "Its messages and what was known about the visitor are gone for good."
                : isNotFound
                  ? "It was erased, or it is older than the account's retention."
                  : errorText(problem)}
          </p>
          {!isNotFound && !isForbidden && (
            <button type="button" class="btn line" onClick={() => void workspace.reading.openTimeline(chatId)}>
              Try again
            </button>
          )}
          <button type="button" class="btn line" onClick={() => openChat(undefined)}>
            Back to the inbox
          </button>
        </div>
      </section>
    );
  }

  return (
    <section class="conversation" aria-label={`Conversation with ${name}`}>
      <ConversationHeader chatId={chatId} row={row} name={name} />
      <MessageLog key={chatId} chatId={chatId} name={name} />
      {row === undefined ? <div /> : <ConversationFooter chatId={chatId} row={row} name={name} />}
    </section>
  );
}
