import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icons";

/** Returns a component whose code is loaded when it is first rendered. */
export function lazyComponent<Props extends object = object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let Loaded: FunctionComponent<Props> | undefined;
  return function LazyComponent(props: Props) {
    const [state, setState] = useState<"loading" | "ready" | "failed">(Loaded === undefined ? "loading" : "ready");
    useEffect(() => {
      if (Loaded !== undefined) return;
      load().then(
        (component) => {
          Loaded = component;
          setState("ready");
        },
        () => setState("failed"),
      );
    }, []);
    if (Loaded !== undefined) return <Loaded {...props} />;
    if (state === "loading") return <p class="blank appear-late">Loading…</p>;
    return (
      <div class="blank bad">
        <Icon name="circle-alert" />
        <h2>This page could not be loaded</h2>
        <button type="button" class="btn line" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    );
  };
}
