/** Whether a key belongs to an input method. Safari sends the Enter that confirms a conversion after the composition has
 * ended, and marks it with the code 229 only. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
