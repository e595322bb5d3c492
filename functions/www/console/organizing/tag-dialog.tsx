import { Dialog } from "../../ui/dialog";
import { closeOverlay } from "../state/list/view-state";
import { visitorName } from "../state/list/chats";
import { useWorkspace } from "../workspace-context";
import { TagChoice } from "./tag-choice";
import { t } from "../../texts/translate";

const MAX_TAGS_PER_CHAT = 10;

/** Puts tags on a chat. Each change is stored at once. */
export function TagDialog({ chatId }: { chatId: number }) {
  const { headers, chats, organizing } = useWorkspace();
  const row = chats.row(chatId) ?? headers.peek(chatId);
  const tagIds = row?.tag_ids ?? [];
  const isFull = tagIds.length >= MAX_TAGS_PER_CHAT;
  return (
    <Dialog title={row === undefined ? t`Tags of the chat` : t`Tags of ${visitorName(row)}`} onClose={closeOverlay}>
      <div class="body">
        <TagChoice
          isSet={(tagId) => tagIds.includes(tagId)}
          isDisabled={(tagId) => isFull && !tagIds.includes(tagId)}
          onChange={(tagId, isSet) => void organizing.setTag(chatId, tagId, isSet)}
        />
        {isFull && <p class="quiet-text" role="status">{t`A chat has at most ${MAX_TAGS_PER_CHAT} tags.`}</p>}
      </div>
    </Dialog>
  );
}
