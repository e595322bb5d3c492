import { controlAttributes, FieldNotes } from "../../ui/form-fields";

interface ChoiceListProps<Id> {
  id: string;
  label: string;
  options: readonly { id: Id; name: string }[];
  chosen: readonly Id[];
  help?: string;
  problem?: string | undefined;
  onChange: (chosen: Id[]) => void;
}

/** Check boxes in a list that scrolls, in the order of the options. */
export function ChoiceList<Id extends number | string>(props: ChoiceListProps<Id>) {
  const { id, label, options, chosen, help, problem, onChange } = props;
  const { "aria-describedby": describedBy } = controlAttributes(id, help !== undefined, problem);
  /** The chosen ids that are not among the options, for example the id of an agent who was added a moment ago. */
  const unlisted = chosen.filter((id) => options.every((option) => option.id !== id));
  const toggle = (toggled: Id, isChosen: boolean) => {
    const ids = options.map((option) => option.id);
    onChange([...ids.filter((id) => (id === toggled ? isChosen : chosen.includes(id))), ...unlisted]);
  };
  return (
    <fieldset class="field choices" aria-describedby={describedBy}>
      <legend>{label}</legend>
      <div class="scroll">
        {options.map((option) => (
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
