/** A list of options below a search field. The option with index `n` has the element id `${optionIdPrefix}-${n}`. */
interface SelectableList {
  selectedIndex: number;
  count: number;
  optionIdPrefix: string;
  onSelect: (index: number) => void;
  onChoose: () => void;
}

/** Handles a key in the search field: the arrow keys move the selection and wrap around, Enter chooses the selected
 * option. */
export function handleListKey(event: KeyboardEvent, list: SelectableList): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step !== 0 && list.count > 0) {
    event.preventDefault();
    const next = (list.selectedIndex + step + list.count) % list.count;
    list.onSelect(next);
    document.getElementById(`${list.optionIdPrefix}-${next}`)?.scrollIntoView({ block: "nearest" });
  } else if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    list.onChoose();
  }
}
