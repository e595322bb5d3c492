import { useEffect, useRef } from "preact/hooks";

/** Returns a reference that is true until the component is removed, for the end of a request that may come later. */
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
