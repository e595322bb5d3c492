import "./conversation.css";
import { useEffect } from "preact/hooks";
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
import { plural, rich, t } from "../../texts/translate";

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
    <section class="conversation" aria-label={t`Conversation`}>
      <div class="blank">
        <Icon name="messages-square" />
        <h2>
          {waiting.length > 0
            ? plural(waiting.length, "{count} visitor is waiting", "{count} visitors are waiting")
            : t`No chat is open`}
        </h2>
        <p>{rich`Open one from the list, or press ${(<kbd>j</kbd>)}. ${(<kbd>?</kbd>)} shows all shortcuts.`}</p>
        {longestWaiting !== undefined && (
          <button type="button" class="btn primary" onClick={() => openChat(longestWaiting.chat_id)}>
            {t`Open ${visitorName(longestWaiting)}`}
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
  const name = row === undefined ? t`Chat ${chatId}` : visitorName(row);
  usePageTitle(name);
  useEffect(() => () => workspace.messageChanges.stopEditing(chatId), [chatId]);

  if (loadState === "failed") {
    const problem = timeline.problem.value;
    const isNotFound = hasStatus(problem, 404);
    const isForbidden = hasStatus(problem, 403);
    const wasTakenAway = timeline.wasTakenAway.value;
    return (
      <section class="conversation" aria-label={t`Conversation`}>
        <div class="blank bad" role="alert">
          <Icon name={isForbidden ? "lock" : isNotFound ? "message-square" : "wifi-off"} />
          <h2>
            {isForbidden
              ? t`You cannot see this chat`
              : isNotFound
                ? wasTakenAway
                  ? t`This chat was erased`
                  : t`This chat does not exist`
                : t`The chat cannot be loaded`}
          </h2>
          <p>
            {isForbidden
              ? t`It belongs to a channel or a department that is not assigned to you. An admin can change that.`
              : isNotFound && wasTakenAway
                ? t`Its messages and what was known about the visitor are gone for good.`
                : isNotFound
                  ? t`It was erased, or it is older than the account's retention.`
                  : errorText(problem)}
          </p>
          {!isNotFound && !isForbidden && (
            <button type="button" class="btn line" onClick={() => void workspace.reading.openTimeline(chatId)}>
              {t`Try again`}
            </button>
          )}
          <button type="button" class="btn line" onClick={() => openChat(undefined)}>
            {t`Back to the inbox`}
          </button>
        </div>
      </section>
    );
  }

  return (
    <section class="conversation" aria-label={t`Conversation with ${name}`}>
      <ConversationHeader chatId={chatId} row={row} name={name} />
      <MessageLog key={chatId} chatId={chatId} name={name} />
      {row === undefined ? <div /> : <ConversationFooter chatId={chatId} row={row} name={name} />}
    </section>
  );
}
