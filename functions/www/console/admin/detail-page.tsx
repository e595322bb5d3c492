import type { ComponentChildren } from "preact";
import type { Route } from "../state/route";
import { DetailHeader } from "./detail-header";
import { LoadedPage } from "./list-page";
import type { Loaded } from "./use-loaded";

interface DetailPageProps<Value> {
  loaded: Loaded<Value>;
  /** What is loaded, such as "The channel". */
  what: string;
  list: { name: string; route: Route };
  children: (value: Value) => ComponentChildren;
}

/** A detail page. Until its value is loaded, it shows only the way back to the list. */
export function DetailPage<Value>({ loaded, what, list, children }: DetailPageProps<Value>) {
  if (loaded.value !== undefined) return <>{children(loaded.value)}</>;
  return (
    <div class="detail-page">
      <DetailHeader name={loaded.problem === undefined ? "" : what} list={list} />
      <div class="scroll">
        <LoadedPage loaded={loaded} what={what}>
          {() => null}
        </LoadedPage>
      </div>
    </div>
  );
}
