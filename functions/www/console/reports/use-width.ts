import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Returns a reference for an element, and the element's width in pixels, which is undefined until the element has been
 * laid out. */
export function useWidth<Target extends HTMLElement>() {
  const element = useRef<Target>(null);
  const [width, setWidth] = useState<number>();
  useLayoutEffect(() => {
    if (element.current === null) return;
    setWidth(element.current.clientWidth);
    const observer = new ResizeObserver(([entry]) => {
      // In print, keep the width on the screen: the drawing is scaled to the paper.
      if (entry !== undefined && !matchMedia("print").matches) setWidth(entry.contentRect.width);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { element, width };
}
