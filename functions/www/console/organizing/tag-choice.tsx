import { useState } from "preact/hooks";
import { closeOverlay } from "../state/list/view-state";
import { SETTINGS_ROUTE } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { TagLabel } from "./tag-label";
import { t } from "../../texts/translate";

interface TagChoiceProps {
  isSet: (tagId: number) => boolean;
  /** Whether only some of several chats have the tag. */
  isPartlySet?: (tagId: number) => boolean;
  isDisabled: (tagId: number) => boolean;
  onChange: (tagId: number, isSet: boolean) => void;
}

/** The tags of the account with a search field, in which Enter toggles the first tag that is found. */
export function TagChoice({ isSet, isPartlySet, isDisabled, onChange }: TagChoiceProps) {
  const { roster } = useWorkspace();
  const [searchText, setSearchText] = useState("");
  const searchTerm = searchText.trim().toLowerCase();
  const found = roster.tags.value.filter(({ name }) => name.toLowerCase().includes(searchTerm));
  const toggle = (tagId: number) => {
    if (!isDisabled(tagId)) onChange(tagId, !isSet(tagId));
  };
  if (roster.tags.value.length === 0) return <NoTags />;
  return (
    <>
      <input
        class="input"
        data-autofocus
        type="search"
        aria-label={t`Find a tag`}
        placeholder={t`Find a tag`}
        autocomplete="off"
        value={searchText}
        onInput={(event) => setSearchText(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = found;
          if (event.key !== "Enter" || event.isComposing || first === undefined) return;
          event.preventDefault();
          toggle(first.tag_id);
        }}
      />
      <div class="tag-options scroll" role="group" aria-label={t`Tags`}>
        {found.map((tag) => (
          <label key={tag.tag_id}>
            <input
              type="checkbox"
              checked={isSet(tag.tag_id)}
              indeterminate={isPartlySet?.(tag.tag_id) ?? false}
              disabled={isDisabled(tag.tag_id)}
              onChange={() => toggle(tag.tag_id)}
            />
            <TagLabel tag={tag} />
          </label>
        ))}
        {found.length === 0 && <p class="quiet-text">{t`No tag has this name.`}</p>}
      </div>
    </>
  );
}

function NoTags() {
  const { isAdmin } = useWorkspace();
  return (
    <p>
      {t`This account has no tags yet.`}{" "}
      {isAdmin ? (
        <a class="link" href={hrefOf(SETTINGS_ROUTE)} onClick={closeOverlay}>
          {t`Add tags in the settings`}
        </a>
      ) : (
        t`An admin can add them.`
      )}
    </p>
  );
}
