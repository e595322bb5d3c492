import { useEffect, useRef, useState } from "preact/hooks";
import type { SavedView } from "../../api/types";
import { Options } from "../../ui/form-fields";
import { toast } from "../../ui/toast";
import { activeFilter, isFiltered, isShown, setFilter, viewOf, withFields } from "../state/list/chat-filter";
import { activeTab } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { choicesIn, type Choice } from "./filter-bar";
import { t } from "../../texts/translate";

const MAX_VIEWS = 20;
const MAX_VIEW_NAME_CHARS = 40;

/** Chooses the filter of the current tab. */
export function FilterForm() {
  const form = useRef<HTMLDivElement>(null);
  // The popover was open before this code was loaded.
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const workspace = useWorkspace();
  const filter = activeFilter.value;
  const { tags, channels, departments } = choicesIn(workspace);
  const change = (fields: Parameters<typeof withFields>[1]) => setFilter(activeTab.peek(), withFields(filter, fields));
  const numberOf = (value: string) => (value === "" ? undefined : Number(value));
  return (
    <div ref={form} class="filter-form">
      <div>
        <Check
          label={t`Unread`}
          isOn={filter.unread ?? false}
          onChange={(isOn) => change({ unread: isOn || undefined })}
        />
        <Check
          label={t`Unanswered: the visitor wrote last`}
          isOn={filter.unanswered ?? false}
          onChange={(isOn) => change({ unanswered: isOn || undefined })}
        />
        <Check
          label={t`Mentions me: a note with @ and my name`}
          isOn={filter.mentioned ?? false}
          onChange={(isOn) => change({ mentioned: isOn || undefined })}
        />
      </div>
      <Choose
        id="filter-tag"
        label={t`Tag`}
        value={filter.tagId}
        choices={tags}
        onChange={(value) => change({ tagId: numberOf(value) })}
      />
      <Choose
        id="filter-channel"
        label={t`Channel`}
        value={filter.channelId}
        choices={channels}
        onChange={(value) => change({ channelId: value === "" ? undefined : value })}
      />
      <Choose
        id="filter-department"
        label={t`Department`}
        value={filter.departmentId}
        choices={departments}
        onChange={(value) => change({ departmentId: numberOf(value) })}
      />
      {isFiltered(filter) && (
        <div class="actions">
          <button type="button" class="btn line" onClick={() => setFilter(activeTab.peek(), {})}>
            {t`Show all`}
          </button>
        </div>
      )}
      {workspace.isAdmin && isFiltered(filter) && <ViewForm />}
    </div>
  );
}

interface CheckProps {
  label: string;
  isOn: boolean;
  onChange: (isOn: true | false) => void;
}

const Check = ({ label, isOn, onChange }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
);

interface ChooseProps {
  id: string;
  label: string;
  value: string | number | undefined;
  choices: Choice[];
  onChange: (value: string) => void;
}

/** A drop-down list that need not restrict the list of chats. Not shown if there is nothing to choose from. */
function Choose({ id, label, value, choices, onChange }: ChooseProps) {
  if (choices.length === 0 && value === undefined) return null;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="input"
        value={value === undefined ? "" : String(value)}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        <Options options={[{ value: "", label: t`Any` }, ...choices]} />
      </select>
    </div>
  );
}

/** Saves the filter as a view for all agents, or deletes the view that is shown. */
function ViewForm() {
  const { roster } = useWorkspace();
  const [name, setName] = useState("");
  const [isBusy, setBusy] = useState(false);
  const views = roster.views.value;
  const shown = views.find(isShown);
  const tab = activeTab.value;
  const save = async (changed: readonly SavedView[], done: string) => {
    setBusy(true);
    try {
      await roster.saveViews(changed);
      setName("");
      toast(done);
    } catch (error) {
      toast(t`The views were not changed. ${errorText(error)}`, { isBad: true });
    } finally {
      setBusy(false);
    }
  };
  if (shown !== undefined)
    return (
      <button
        type="button"
        class="btn line"
        disabled={isBusy}
        onClick={() =>
          void save(
            views.filter((view) => view !== shown),
            t`The view “${shown.name}” is deleted.`,
          )
        }
      >
        {t`Delete the view “${shown.name}”`}
      </button>
    );
  // A view is the same for all agents, and does not contain who is mentioned.
  if (tab === "snoozed" || activeFilter.value.mentioned !== undefined || views.length >= MAX_VIEWS) return null;
  const add = (event: Event) => {
    event.preventDefault();
    const others = views.filter((view) => view.name !== name.trim());
    void save([...others, viewOf(name.trim(), tab, activeFilter.peek())], t`The view “${name.trim()}” is saved.`);
  };
  return (
    <form class="own-time" onSubmit={add}>
      <div class="field">
        <label for="view-name">{t`Save as a view for all agents`}</label>
        <input
          id="view-name"
          class="input"
          maxLength={MAX_VIEW_NAME_CHARS}
          placeholder={t`Name`}
          autocomplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </div>
      <button type="submit" class="btn line" disabled={isBusy || name.trim() === ""}>
        {t`Save`}
      </button>
    </form>
  );
}
