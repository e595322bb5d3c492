import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./icons";
import { t } from "../texts/translate";

export interface LazyComponent<Props> extends FunctionComponent<Props> {
  /** Loads the code now, so that the component is there at once when it is first rendered. */
  preload: () => Promise<void>;
}

/** Returns a component whose code is loaded when it is first rendered, unless it is preloaded. */
export function lazyComponent<Props extends object = object>(
  load: () => Promise<FunctionComponent<Props>>,
): LazyComponent<Props> {
  let Loaded: FunctionComponent<Props> | undefined;
  const preload = async () => {
    Loaded ??= await load();
  };
  return Object.assign(LazyComponent, { preload });

  function LazyComponent(props: Props) {
    const [state, setState] = useState<"loading" | "ready" | "failed">(Loaded === undefined ? "loading" : "ready");
    useEffect(() => {
      if (Loaded !== undefined) return;
      preload().then(
        () => setState("ready"),
        () => setState("failed"),
      );
    }, []);
    if (Loaded !== undefined) return <Loaded {...props} />;
    if (state === "loading") return <p class="blank appear-late">{t`Loading…`}</p>;
    return (
      <div class="blank bad">
        <Icon name="circle-alert" />
        <h2>{t`This page could not be loaded`}</h2>
        <button type="button" class="btn line" onClick={() => location.reload()}>
          {t`Reload`}
        </button>
      </div>
    );
  }
}
