import { useEffect, useRef } from "preact/hooks";

/** Returns a reference that is true until the component is removed. A request may finish after that. */
export function useMounted(): { readonly current: boolean } {
  const isMounted = useRef(true);
  useEffect(
    () => () => {
      isMounted.current = false;
    },
    [],
  );
  return isMounted;
}
