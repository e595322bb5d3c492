import type { Section } from "../section";

export const INBOX: Section = { name: "inbox", title: "Inbox", icon: "inbox", isInSmallRail: true };
