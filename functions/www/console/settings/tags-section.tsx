import { FieldNotes, Options } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { FormSection } from "../admin/detail-header";
import type { DraftForm } from "../admin/draft-form";
import { TagLabel } from "../organizing/tag-label";
import type { SettingsDraft, TagDraft } from "./settings-draft";
import { t } from "../../texts/translate";

const MAX_TAGS = 100;
const MAX_TAG_NAME_CHARS = 40;
const COLORS: readonly { value: TagDraft["color"]; label: string }[] = [
  { value: "gray", label: t`Gray` },
  { value: "red", label: t`Red` },
  { value: "orange", label: t`Orange` },
  { value: "green", label: t`Green` },
  { value: "teal", label: t`Teal` },
  { value: "blue", label: t`Blue` },
  { value: "violet", label: t`Violet` },
  { value: "pink", label: t`Pink` },
];

/** The tags that agents put on chats. */
export function TagsSection({ form }: { form: DraftForm<SettingsDraft> }) {
  const { tags } = form.draft;
  const problem = form.problems["tags"];
  const change = (index: number, changed: Partial<TagDraft>) =>
    form.change({ tags: tags.map((tag, at) => (at === index ? { ...tag, ...changed } : tag)) });
  return (
    <FormSection title={t`Tags`}>
      <p class="quiet-text">{t`Agents put tags on chats to find them again. Reports count closed chats by tag.`}</p>
      <div class="tag-rows" data-field="tags">
        {tags.map((tag, index) => (
          <div key={tag.tag_id ?? `new-${index}`}>
            <input
              class="input"
              aria-label={t`Name of tag ${index + 1}`}
              aria-invalid={problem !== undefined}
              aria-describedby={problem === undefined ? undefined : "tags-problem"}
              dir="auto"
              maxLength={MAX_TAG_NAME_CHARS}
              autocomplete="off"
              value={tag.name}
              onInput={(event) => change(index, { name: event.currentTarget.value })}
            />
            <select
              class="input"
              aria-label={t`Colour of tag ${index + 1}`}
              value={tag.color}
              onChange={(event) => change(index, { color: event.currentTarget.value as TagDraft["color"] })}
            >
              <Options options={COLORS} />
            </select>
            <TagLabel tag={{ ...tag, name: "" }} />
            <button
              type="button"
              class="btn only-icon"
              aria-label={t`Remove tag ${tag.name || index + 1}`}
              onClick={() => form.change({ tags: tags.filter((_, at) => at !== index) })}
            >
              <Icon name="trash-2" />
            </button>
          </div>
        ))}
      </div>
      <FieldNotes id="tags" problem={problem} />
      {tags.length < MAX_TAGS && (
        <div>
          <button
            type="button"
            class="btn line"
            onClick={() => form.change({ tags: [...tags, { name: "", color: "blue" }] })}
          >
            <Icon name="plus" />
            {t`Add a tag`}
          </button>
        </div>
      )}
    </FormSection>
  );
}
