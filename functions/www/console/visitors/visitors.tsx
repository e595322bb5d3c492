/* The visitors: their list, the latest chat of one, and the page on which an admin erases one. */

import { lazyComponent } from "../../ui/lazy-component";
import { AdminsOnly } from "../admins-only";
import { route } from "../state/page/route";
import { VisitorsPage } from "./visitors-page";
import { t } from "../../texts/translate";

/** Loaded when it is first opened, because only admins erase visitors. */
const ErasurePage = lazyComponent<{ number: number }>(() =>
  import("./erasure-page").then(({ ErasurePage }) => ErasurePage),
);

export function Visitors() {
  const { id, path } = route.value;
  if (id === undefined || path !== "erase") return <VisitorsPage />;
  return (
    <AdminsOnly text={t`Only admins erase visitors`}>
      <ErasurePage key={id} number={id} />
    </AdminsOnly>
  );
}
