/* The title of the browser's tab: what the page shows, then the name of the product. */

import { computed, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

const PRODUCT_NAME = "Switchboard";

/** The section's name. It is the title of a page that does not name its own subject. */
export const sectionName = signal<string | undefined>(undefined);
const subjectName = signal<string | undefined>(undefined);

export const titleOf = (subject: string | undefined) =>
  subject === undefined ? PRODUCT_NAME : `${subject} · ${PRODUCT_NAME}`;

export const pageTitle = computed(() => titleOf(subjectName.value ?? sectionName.value));

/** Names what the page shows, such as a visitor or a channel, for as long as the component is rendered. */
export function usePageTitle(subject: string | undefined): void {
  useLayoutEffect(() => {
    if (subject === undefined) return;
    subjectName.value = subject;
    return () => {
      if (subjectName.peek() === subject) subjectName.value = undefined;
    };
  }, [subject]);
}
