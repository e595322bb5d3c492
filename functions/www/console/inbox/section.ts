import type { Section } from "../section";
import { t } from "../../texts/translate";

export const INBOX: Section = { name: "inbox", title: t`Inbox`, icon: "inbox", isInSmallRail: true };
