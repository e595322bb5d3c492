import { useEffect, useRef, useState } from "preact/hooks";
import { hasStatus } from "../../api/client";
import { errorText } from "../state/page/error-text";

export interface Loaded<Value> {
  /** Undefined until the first request has succeeded. */
  value: Value | undefined;
  setValue: (value: Value) => void;
  problem: string | undefined;
  isLoading: boolean;
  /** Whether the subject of the page does not exist. */
  isMissing: boolean;
  reload: () => void;
}

/** Loads the value of a page when the page is opened, and again when `key` changes. While a value is loading, the
 * previous one is shown. Only the response to the latest request is used. */
export function useLoaded<Value>(load: () => Promise<Value>, key = ""): Loaded<Value> {
  const [value, setValue] = useState<Value>();
  const [error, setError] = useState<unknown>();
  const [isLoading, setLoading] = useState(true);
  const lastRequest = useRef(0);
  const reload = () => {
    const request = ++lastRequest.current;
    const finish = (state: () => void) => {
      if (request !== lastRequest.current) return;
      setLoading(false);
      state();
    };
    setError(undefined);
    setLoading(true);
    load().then(
      (loaded) => finish(() => setValue(() => loaded)),
      (reason: unknown) => finish(() => setError(reason)),
    );
  };
  useEffect(reload, [key]);
  useEffect(
    () => () => {
      lastRequest.current = -1;
    },
    [],
  );
  return {
    value,
    setValue: (stored) => setValue(() => stored),
    problem: error === undefined ? undefined : errorText(error),
    isLoading,
    isMissing: hasStatus(error, 404),
    reload,
  };
}
