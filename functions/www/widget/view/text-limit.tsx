/** @jsxImportSource #widget */
/* The limit of a message's length: a counter near it, and words for a pasted text that exceeds it. */

import { fill, type Texts } from "../texts";

/** The maximum length of a message. */
const MAX_LENGTH = 1000;
/** The counter is shown from this length on. */
const MIN_COUNTED_LENGTH = 900;

type Field = HTMLTextAreaElement;

/** Returns the attributes of a text field for a message. Its form must contain `TextLimit`. */
export const limitAttributes = (texts: Texts) => ({
  maxLength: MAX_LENGTH,
  onPaste: (event: ClipboardEvent & { currentTarget: Field }) => {
    const field = event.currentTarget;
    const pasted = event.clipboardData?.getData("text").replaceAll("\r\n", "\n") ?? "";
    const length = field.value.length - (field.selectionEnd - field.selectionStart) + pasted.length;
    if (length <= MAX_LENGTH) return;
    event.preventDefault();
    showLength(field, fill(texts.tooLong, length));
  },
});

/** Shows the length of the field's text if it is near the limit, and what is wrong with a pasted text. */
export function showLength(field: Field, problem = ""): void {
  const { length } = field.value;
  const [count, words] = field.form?.querySelectorAll(".limit") ?? [];
  if (count) count.textContent = length < MIN_COUNTED_LENGTH ? "" : `${length}/${MAX_LENGTH}`;
  if (words) words.textContent = problem;
}

/** The counter and the problem of the text field in the same form. `showLength` sets their texts. */
export const TextLimit = () => (
  <>
    <small class="limit" aria-hidden="true" />
    <p class="limit refused" role="alert" />
  </>
);
