import { Options } from "../../ui/form-fields";

interface FilterSelectProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}

/** A drop-down list whose label is only for screen readers. */
export const FilterSelect = <Value extends string>({ label, value, options, onChange }: FilterSelectProps<Value>) => (
  <select
    class="input"
    aria-label={label}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value as Value)}
  >
    <Options options={options} />
  </select>
);
