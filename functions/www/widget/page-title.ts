/* The number of unread messages in the title of a tab that the visitor does not see, for example "(2) Shop". */

let shown: { title: string; original: string } | undefined;

/** Returns the page's title without the number. */
export const pageTitle = (): string => (shown?.title === document.title ? shown.original : document.title);

/** Shows the number in the title, or restores the page's title if `count` is 0. If the page has changed its title in the
 * meantime, the page's title is kept. */
export function countInTitle(count: number): void {
  const original = pageTitle();
  if (count === 0) {
    if (shown?.title === document.title) document.title = original;
    shown = undefined;
  } else {
    const title = `(${count}) ${original}`;
    if (title !== document.title) document.title = title;
    // The browser removes some white space.
    shown = { title: document.title, original };
  }
}
