import type { RefObject } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";

/** Keeps a text area as high as its text. */
export function useGrowingHeight(textarea: RefObject<HTMLTextAreaElement | null>, text: string): void {
  const resizeToContent = () => {
    const element = textarea.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  };
  useLayoutEffect(resizeToContent, [text]);
  useEffect(() => {
    const element = textarea.current;
    if (element === null) return;
    let width = element.clientWidth;
    const resizeObserver = new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      resizeToContent();
    });
    resizeObserver.observe(element);
    return () => resizeObserver.disconnect();
  }, []);
}
