import "./organizing.css";
import type { Tag } from "../../api/types";
import { useWorkspace } from "../workspace-context";

/** A tag with its colour. */
export const TagLabel = ({ tag }: { tag: Pick<Tag, "name" | "color"> }) => (
  <span class={`chat-tag ${tag.color}`}>
    <span class="clip" dir="auto">
      {tag.name}
    </span>
  </span>
);

/** The tags of a chat. Tags that have been deleted are not shown. */
export function ChatTags({ tagIds }: { tagIds: readonly number[] | undefined }) {
  const tags = useWorkspace().roster.tags.value;
  if (tagIds === undefined) return null;
  const shown = tagIds.flatMap((id) => tags.find((tag) => tag.tag_id === id) ?? []);
  return shown.map((tag) => <TagLabel key={tag.tag_id} tag={tag} />);
}
