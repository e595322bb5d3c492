import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface PopoverProps {
  anchor: RefObject<HTMLElement | null>;
  /** Which edge of the anchor it is aligned with. */
  align?: "start" | "end";
  /** Where it opens when there is room. */
  side?: "below" | "above";
  class?: string;
  role?: "menu" | "dialog";
  label: string;
  onClose: () => void;
  children: ComponentChildren;
}

const GAP = 6;
const EDGE = 8;

/** Floats above everything beside its anchor; closes on Escape and on a click elsewhere. */
export function Popover({
  anchor,
  align = "start",
  side = "below",
  class: extra,
  role = "dialog",
  label,
  onClose,
  children,
}: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const place = () => {
      const at = anchor.current?.getBoundingClientRect();
      if (at === undefined) return;
      const { offsetWidth: width, offsetHeight: height } = element;
      const below = at.bottom + GAP;
      const above = at.top - GAP - height;
      const fitsBelow = below + height <= innerHeight - EDGE;
      const isBelow = side === "below" ? fitsBelow || above < EDGE : above < EDGE && fitsBelow;
      const isFromLeft = (align === "start") !== (getComputedStyle(element).direction === "rtl");
      const left = isFromLeft ? at.left : at.right - width;
      element.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
      element.style.top = `${Math.max(EDGE, Math.min(isBelow ? below : above, innerHeight - height - EDGE))}px`;
    };
    element.showPopover();
    place();
    const first = element.querySelector<HTMLElement>("[data-autofocus], [role^=menuitem], button, input, a");
    first?.focus();
    const sizes = new ResizeObserver(place);
    sizes.observe(element);
    addEventListener("resize", place);
    const onToggle = (event: Event) => {
      if ((event as ToggleEvent).newState === "closed") close.current();
    };
    element.addEventListener("toggle", onToggle);
    return () => {
      sizes.disconnect();
      removeEventListener("resize", place);
      element.removeEventListener("toggle", onToggle);
      const hadFocus = element.contains(document.activeElement) || document.activeElement === document.body;
      if (element.matches(":popover-open")) element.hidePopover();
      if (hadFocus) anchor.current?.focus();
    };
  }, []);
  return (
    <div
      ref={box}
      popover="auto"
      class={extra === undefined ? "popover" : `popover ${extra}`}
      role={role}
      aria-label={label}
      onKeyDown={role === "menu" ? moveInMenu : undefined}
    >
      {children}
    </div>
  );
}

function moveInMenu(event: KeyboardEvent): void {
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role^=menuitem]")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next =
    event.key === "ArrowDown"
      ? at + 1
      : event.key === "ArrowUp"
        ? at - 1
        : event.key === "Home"
          ? 0
          : event.key === "End"
            ? -1
            : undefined;
  if (next === undefined) return;
  event.preventDefault();
  items.at(next % items.length)?.focus();
}
