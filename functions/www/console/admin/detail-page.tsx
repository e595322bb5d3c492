import type { ComponentChildren } from "preact";
import type { Route } from "../state/page/route";
import { DetailHeader } from "./detail-header";
import { LoadedPage } from "./list-page";
import type { Loaded } from "./use-loaded";

interface LoadedDetailProps<Value> {
  loaded: Loaded<Value>;
  /** What is loaded, such as "The channel". */
  what: string;
  /** The top of the page until the value is loaded. */
  header: ComponentChildren;
  children: (value: Value) => ComponentChildren;
}

/** A page with a header of its own that needs a value. */
export function LoadedDetail<Value>({ loaded, what, header, children }: LoadedDetailProps<Value>) {
  if (loaded.value !== undefined) return <>{children(loaded.value)}</>;
  return (
    <div class="detail-page">
      {header}
      <div class="scroll">
        <LoadedPage loaded={loaded} what={what}>
          {() => null}
        </LoadedPage>
      </div>
    </div>
  );
}

interface DetailPageProps<Value> extends Omit<LoadedDetailProps<Value>, "header"> {
  list: { name: string; route: Route };
}

/** A detail page. Until its value is loaded, it shows only the way back to the list. */
export const DetailPage = <Value,>({ list, ...page }: DetailPageProps<Value>) => (
  <LoadedDetail
    {...page}
    header={<DetailHeader name={page.loaded.problem === undefined ? "" : page.what} list={list} />}
  />
);
