/* The styles that depend on the settings: the colours of the theme and of the brand, and the place on the page. */

import type { Settings } from "../service/types";
import { brandStyles } from "./brand-colors";
import themeStyles from "./theme.css";

const DARK_QUERY = / ?\(prefers-color-scheme: ?dark\)/g;
/** The room for the launcher below the window, in pixels. */
const LAUNCHER_ROOM = 72;

/** Returns the style sheet for the settings. A chosen theme applies whatever the visitor's device prefers. */
export function settingsStyles({ theme, color, color2, launcher }: Settings): string {
  const { hidden, offset_x, offset_y, z_index } = launcher;
  const colors = themeStyles + brandStyles(color, color2);
  const isSystem = theme === "system";
  return (
    (isSystem ? colors : colors.replace(DARK_QUERY, theme === "dark" ? " all" : " not all")) +
    // These rules are `!important`, so that the page's own rules for the host element do not override them.
    `:host{z-index:${z_index}!important;color-scheme:${isSystem ? "light dark" : theme}!important}` +
    `.root{--offset-x:${offset_x}px;--offset-y:${offset_y}px;--launcher:${hidden ? 0 : LAUNCHER_ROOM}px}`
  );
}
