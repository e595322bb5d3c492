import { useRef } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { lazyComponent } from "../../ui/lazy-component";
import { Popover } from "../../ui/popover";
import { activeFilter, isShown, setFilter, showView, withFields, type ChatFilter } from "../state/list/chat-filter";
import { activeTab, isFilterOpen } from "../state/list/view-state";
import type { Workspace } from "../state/workspace";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

export interface Choice {
  value: string;
  label: string;
}

/** Returns what a list can be filtered by. Agents know the channels of the chats that are loaded. */
export function choicesIn({ chats, roster }: Workspace): Record<"tags" | "channels" | "departments", Choice[]> {
  const channels = new Map([...chats.rows.value.values()].map(({ channel }) => [channel.channel_id, channel.name]));
  return {
    tags: roster.tags.value.map(({ tag_id, name }) => ({ value: String(tag_id), label: name })),
    channels: [...channels].map(([value, label]) => ({ value, label })),
    departments: (roster.people.value?.departments ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
  };
}

/** Returns the conditions of a filter in words, with the fields that end them. */
function conditionsOf(filter: ChatFilter, workspace: Workspace): { label: string; field: keyof ChatFilter }[] {
  const { tags, channels, departments } = choicesIn(workspace);
  const labelIn = (choices: Choice[], value: string | number) =>
    choices.find((choice) => choice.value === String(value))?.label ?? `#${value}`;
  const { unread, unanswered, mentioned, tagId, channelId, departmentId } = filter;
  return [
    unread && { label: t`Unread`, field: "unread" as const },
    unanswered && { label: t`Unanswered`, field: "unanswered" as const },
    mentioned && { label: t`Mentions me`, field: "mentioned" as const },
    tagId !== undefined && { label: labelIn(tags, tagId), field: "tagId" as const },
    channelId !== undefined && { label: labelIn(channels, channelId), field: "channelId" as const },
    departmentId !== undefined && { label: labelIn(departments, departmentId), field: "departmentId" as const },
  ].filter((condition) => typeof condition === "object");
}

/** Loaded when it is first opened, so that the first page does not wait for it. */
const FilterForm = lazyComponent(() => import("./filter-form").then(({ FilterForm }) => FilterForm));

/** The filter of the current tab, and the saved views. */
export function FilterBar() {
  const workspace = useWorkspace();
  const button = useRef<HTMLButtonElement>(null);
  const filter = activeFilter.value;
  const end = (field: keyof ChatFilter) =>
    setFilter(activeTab.peek(), withFields(activeFilter.peek(), { [field]: undefined }));
  return (
    <div class="filter-bar" role="group" aria-label={t`Filter`}>
      <button
        ref={button}
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isFilterOpen.value}
        aria-keyshortcuts="f"
        onClick={() => (isFilterOpen.value = !isFilterOpen.peek())}
      >
        <Icon name="list-filter" />
        {t`Filter`}
      </button>
      {conditionsOf(filter, workspace).map(({ label, field }) => (
        <button
          key={field}
          type="button"
          class="condition"
          aria-label={t`Do not filter by ${label}`}
          onClick={() => end(field)}
        >
          <span class="clip" dir="auto">
            {label}
          </span>
          <Icon name="x" />
        </button>
      ))}
      {workspace.roster.views.value.map((view) => (
        <button key={view.name} type="button" aria-pressed={isShown(view)} onClick={() => showView(view)}>
          <span class="clip" dir="auto">
            {view.name}
          </span>
        </button>
      ))}
      {isFilterOpen.value && (
        <Popover anchor={button} label={t`Filter the list`} onClose={() => (isFilterOpen.value = false)}>
          <FilterForm />
        </Popover>
      )}
    </div>
  );
}
