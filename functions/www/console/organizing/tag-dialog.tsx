import { useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { closeOverlay } from "../state/list/view-state";
import { visitorName } from "../state/list/chats";
import { SETTINGS_ROUTE } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { TagLabel } from "./tag-label";

const MAX_TAGS_PER_CHAT = 10;

/** Puts tags on a chat. Each change is stored at once. */
export function TagDialog({ chatId }: { chatId: number }) {
  const { headers, chats, organizing, roster } = useWorkspace();
  const [searchText, setSearchText] = useState("");
  const row = chats.row(chatId) ?? headers.peek(chatId);
  const tagIds = row?.tag_ids ?? [];
  const searchTerm = searchText.trim().toLowerCase();
  const tags = roster.tags.value;
  const found = tags.filter(({ name }) => name.toLowerCase().includes(searchTerm));
  return (
    <Dialog title={`Tags of ${row === undefined ? "the chat" : visitorName(row)}`} onClose={closeOverlay}>
      <div class="body">
        {tags.length === 0 ? (
          <NoTags />
        ) : (
          <>
            <input
              class="input"
              data-autofocus
              type="search"
              aria-label="Find a tag"
              placeholder="Find a tag"
              autocomplete="off"
              value={searchText}
              onInput={(event) => setSearchText(event.currentTarget.value)}
              onKeyDown={(event) => {
                const [first] = found;
                if (event.key !== "Enter" || event.isComposing || first === undefined) return;
                event.preventDefault();
                void organizing.setTag(chatId, first.tag_id, !tagIds.includes(first.tag_id));
              }}
            />
            <div class="tag-options scroll" role="group" aria-label="Tags">
              {found.map((tag) => {
                const isSet = tagIds.includes(tag.tag_id);
                return (
                  <label key={tag.tag_id}>
                    <input
                      type="checkbox"
                      checked={isSet}
                      disabled={!isSet && tagIds.length >= MAX_TAGS_PER_CHAT}
                      onChange={() => void organizing.setTag(chatId, tag.tag_id, !isSet)}
                    />
                    <TagLabel tag={tag} />
                  </label>
                );
              })}
              {found.length === 0 && <p class="quiet-text">No tag has this name.</p>}
            </div>
            {tagIds.length >= MAX_TAGS_PER_CHAT && (
              <p class="quiet-text" role="status">{`A chat has at most ${MAX_TAGS_PER_CHAT} tags.`}</p>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}

function NoTags() {
  const { isAdmin } = useWorkspace();
  return (
    <p>
      This account has no tags yet.{" "}
      {isAdmin ? (
        <a class="link" href={hrefOf(SETTINGS_ROUTE)} onClick={closeOverlay}>
          Add tags in the settings
        </a>
      ) : (
        "An admin can add them."
      )}
    </p>
  );
}
