import { useState } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { controlAttributes, FieldNotes } from "../../ui/form-fields";
import { inSentence } from "../../ui/words";
import { t } from "../../texts/translate";

interface ChoiceListProps<Id> {
  id: string;
  label: string;
  options: readonly { id: Id; name: string }[];
  chosen: readonly Id[];
  help?: string;
  problem?: string | undefined;
  onChange: (chosen: Id[]) => void;
}

/** A longer list can be searched. */
const MAX_OPTIONS_WITHOUT_SEARCH = 10;

/** Check boxes in a list that scrolls, in the order of the options. */
export function ChoiceList<Id extends number | string>(props: ChoiceListProps<Id>) {
  const { id, label, options, chosen, help, problem, onChange } = props;
  const { "aria-describedby": describedBy } = controlAttributes(id, help !== undefined, problem);
  const [searchText, setSearchText] = useState("");
  const searchTerm = searchText.trim().toLowerCase();
  const found = options.filter(({ name }) => name.toLowerCase().includes(searchTerm));
  /** The chosen ids that are not among the options, for example the id of an agent who was added a moment ago. */
  const unlisted = chosen.filter((id) => options.every((option) => option.id !== id));
  const toggle = (toggled: Id, isChosen: boolean) => {
    const ids = options.map((option) => option.id);
    onChange([...ids.filter((id) => (id === toggled ? isChosen : chosen.includes(id))), ...unlisted]);
  };
  return (
    <fieldset class="field choices" data-field={id} aria-describedby={describedBy}>
      <legend>{label}</legend>
      {options.length > MAX_OPTIONS_WITHOUT_SEARCH && (
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder={t`${chosen.length} of ${options.length} chosen`}
            aria-label={t`Search ${inSentence(label)}`}
            autocomplete="off"
            spellcheck={false}
            value={searchText}
            onInput={(event) => setSearchText(event.currentTarget.value)}
            // The form must not be submitted.
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
          />
        </label>
      )}
      <div class="scroll">
        {found.map((option) => (
          <label key={option.id}>
            <input
              type="checkbox"
              checked={chosen.includes(option.id)}
              aria-invalid={problem !== undefined}
              onChange={({ currentTarget }) => toggle(option.id, currentTarget.checked)}
            />
            <span class="clip" dir="auto">
              {option.name}
            </span>
          </label>
        ))}
      </div>
      <FieldNotes id={id} help={help} problem={problem} />
    </fieldset>
  );
}
