import { lazyComponent } from "../../ui/lazy-component";
import type { Section } from "../section";

export const TELEPHONY: Section = {
  name: "telephony",
  title: "Telephony",
  icon: "phone",
  keywords: "phone calls twilio gateway number balance minutes",
  adminsOnly: "Only admins change the telephony",
  Page: lazyComponent(() => import("./telephony").then(({ Telephony }) => Telephony)),
};
