import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** How far from its end a list may be, in pixels, to count as being there. */
const TOLERANCE_PX = 24;

/** Keeps the end of a list in sight while entries are added, unless the reader has scrolled up. `count` grows with the
 * list. */
export function useFollowEnd<E extends HTMLElement>(
  count: number,
): { list: RefObject<E | null>; onScroll: () => void } {
  const list = useRef<E>(null);
  const isAtEnd = useRef(true);
  const follow = () => {
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  };
  useLayoutEffect(follow, [count]);
  useEffect(() => {
    if (list.current === null) return;
    // The list also gets another height when it is shown again in a small window.
    const observer = new ResizeObserver(follow);
    observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  const onScroll = () => {
    const element = list.current;
    if (element === null) return;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight <= TOLERANCE_PX;
  };
  return { list, onScroll };
}
