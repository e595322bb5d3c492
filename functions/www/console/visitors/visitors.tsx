/* The visitors: their list, the latest chat of one, and the pages on which one is merged with others or erased. */

import { lazyComponent } from "../../ui/lazy-component";
import { AdminsOnly } from "../admins-only";
import { route } from "../state/page/route";
import { VisitorsPage } from "./visitors-page";
import { t } from "../../texts/translate";

/** Loaded when it is first opened, because only admins erase visitors. */
const ErasurePage = lazyComponent<{ number: number }>(() =>
  import("./erasure-page").then(({ ErasurePage }) => ErasurePage),
);

/** Loaded when it is first opened, because agents seldom do. */
const MergePage = lazyComponent<{ number: number }>(() => import("./merge-page").then(({ MergePage }) => MergePage));

export function Visitors() {
  const { id, path } = route.value;
  if (id === undefined || path === undefined) return <VisitorsPage />;
  if (path === "merge") return <MergePage key={id} number={id} />;
  return (
    <AdminsOnly text={t`Only admins erase visitors`}>
      <ErasurePage key={id} number={id} />
    </AdminsOnly>
  );
}
