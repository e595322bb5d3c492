/** @jsxImportSource #widget */
/* Icons, drawn on a grid of 24 by 24. */

const icon = (path: string) => () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <path d={path} />
  </svg>
);

export const ChatIcon = icon("M5 18.5 4 21l3.8-1.2A9 9 0 1 0 5 18.5z");
export const DownIcon = icon("m6 9 6 6 6-6");
export const CrossIcon = icon("m7 7 10 10M17 7 7 17");
export const UpIcon = icon("M12 19V5M6 11l6-6 6 6");
export const CheckIcon = icon("m5 12.5 4.5 4.5L19 7.5");
export const FileIcon = icon("M14 3H6v18h12V7zM14 3v4h4");
export const ClipIcon = icon(
  "m20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7L9.2 17.2a1.7 1.7 0 0 1-2.4-2.4L14.5 7",
);
export const PlaceIcon = icon("M12 21s-7-6-7-11a7 7 0 0 1 14 0c0 5-7 11-7 11zM12 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4");
export const GoodIcon = icon(
  "M7 11v9H4v-9zM7 11l4-8a2.5 2.5 0 0 1 2 3l-1 4h6.5a1.5 1.5 0 0 1 1.5 2l-2 7a1.5 1.5 0 0 1-1.5 1H7",
);
