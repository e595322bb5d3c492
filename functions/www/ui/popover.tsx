import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface PopoverProps {
  anchor: RefObject<HTMLElement | null>;
  /** The edge of the anchor with which the popover is aligned. */
  align?: "start" | "end";
  /** The side of the anchor on which the popover preferably opens. */
  side?: "below" | "above";
  class?: string;
  role?: "menu" | "dialog";
  label: string;
  onClose: () => void;
  children: ComponentChildren;
}

const ANCHOR_GAP_PX = 6;
const WINDOW_MARGIN_PX = 8;

/** A native popover next to its anchor. It closes on Escape or on a click outside. */
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
  const popover = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const element = popover.current;
    if (element === null) return;
    const place = () => {
      const anchorRect = anchor.current?.getBoundingClientRect();
      if (anchorRect === undefined) return;
      const { offsetWidth: width, offsetHeight: height } = element;
      const below = anchorRect.bottom + ANCHOR_GAP_PX;
      const above = anchorRect.top - ANCHOR_GAP_PX - height;
      const fitsBelow = below + height <= innerHeight - WINDOW_MARGIN_PX;
      const isBelow = side === "below" ? fitsBelow || above < WINDOW_MARGIN_PX : above < WINDOW_MARGIN_PX && fitsBelow;
      const isFromLeft = (align === "start") !== (getComputedStyle(element).direction === "rtl");
      // In a low window, place the popover beside the anchor, so that the anchor stays visible.
      const isBeside = !fitsBelow && above < WINDOW_MARGIN_PX;
      const left = isBeside
        ? isFromLeft
          ? anchorRect.right + ANCHOR_GAP_PX
          : anchorRect.left - ANCHOR_GAP_PX - width
        : isFromLeft
          ? anchorRect.left
          : anchorRect.right - width;
      element.style.left = `${Math.max(WINDOW_MARGIN_PX, Math.min(left, innerWidth - width - WINDOW_MARGIN_PX))}px`;
      element.style.top = `${Math.max(WINDOW_MARGIN_PX, Math.min(isBelow ? below : above, innerHeight - height - WINDOW_MARGIN_PX))}px`;
    };
    element.showPopover();
    place();
    const first = element.querySelector<HTMLElement>("[data-autofocus], [role^=menuitem], button, input, a");
    first?.focus();
    const resizeObserver = new ResizeObserver(place);
    resizeObserver.observe(element);
    addEventListener("resize", place);
    const onToggle = (event: Event) => {
      if ((event as ToggleEvent).newState === "closed") close.current();
    };
    element.addEventListener("toggle", onToggle);
    return () => {
      resizeObserver.disconnect();
      removeEventListener("resize", place);
      element.removeEventListener("toggle", onToggle);
      const hadFocus = element.contains(document.activeElement) || document.activeElement === document.body;
      if (element.matches(":popover-open")) element.hidePopover();
      if (hadFocus) anchor.current?.focus();
    };
  }, []);
  return (
    <div
      ref={popover}
      popover="auto"
      class={extra === undefined ? "popover" : `popover ${extra}`}
      role={role}
      aria-label={label}
      onKeyDown={role === "menu" ? moveFocusInMenu : undefined}
    >
      {children}
    </div>
  );
}

function moveFocusInMenu(event: KeyboardEvent): void {
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role^=menuitem]")];
  const anchorRect = items.indexOf(document.activeElement as HTMLElement);
  const next =
    event.key === "ArrowDown"
      ? anchorRect + 1
      : event.key === "ArrowUp"
        ? anchorRect - 1
        : event.key === "Home"
          ? 0
          : event.key === "End"
            ? -1
            : undefined;
  if (next === undefined) return;
  event.preventDefault();
  items.at(next % items.length)?.focus();
}
