export const hasCoarsePointer = () => matchMedia("(pointer: coarse)").matches;

/** Whether a key sends the text. On a touch screen, Enter alone begins a line. */
export const isSendKey = ({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent) =>
  key === "Enter" && !shiftKey && !altKey && (!hasCoarsePointer() || ctrlKey || metaKey);
