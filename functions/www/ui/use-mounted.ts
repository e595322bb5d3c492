import { useEffect, useRef } from "preact/hooks";

/** Returns a reference whose value is true until the component is unmounted. A request may finish after that. */
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
