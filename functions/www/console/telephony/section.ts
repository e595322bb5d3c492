import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";
import { t } from "../../texts/translate";

export const TELEPHONY: Section = {
  name: "telephony",
  title: t`Telephony`,
  icon: "phone",
  keywords: t`phone calls twilio gateway number balance minutes`,
  adminsOnly: t`Only admins change the telephony`,
  Page: lazyComponent(() => import("./telephony").then(({ Telephony }) => Telephony)),
};
