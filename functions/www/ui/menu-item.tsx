import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons";

interface MenuItemProps {
  icon: IconName;
  /** Whether the item is switched on. Absent for an item that is no switch. */
  isChecked?: boolean;
  /** Whether the item destroys something. */
  isBad?: boolean;
  onClick: () => void;
  children: ComponentChildren;
}

/** An item of a menu in a `Popover`. */
export const MenuItem = ({ icon, isChecked, isBad, onClick, children }: MenuItemProps) => (
  <button
    type="button"
    class={isBad ? "menu-item bad" : "menu-item"}
    role={isChecked === undefined ? "menuitem" : "menuitemcheckbox"}
    aria-checked={isChecked}
    onClick={onClick}
  >
    <Icon name={icon} />
    {children}
    {isChecked !== undefined && <Icon name="check" class="check" />}
  </button>
);
