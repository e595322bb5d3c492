import type { VisitorFieldSource } from "../../api/types";
import { t } from "../../texts/translate";

const SOURCE_LABELS: Record<VisitorFieldSource, string> = {
  visitor: "visitor",
  script: "page",
  integrator: "integrator",
  bot: "bot",
  crm: "CRM",
  agent: "agent",
};
const SOURCE_DESCRIPTIONS: Record<VisitorFieldSource, string> = {
  visitor: t`Entered by the visitor`,
  script: t`Set by the page, which visitors can change`,
  integrator: t`Sent by your front end`,
  bot: t`Sent by the bot`,
  crm: t`From your CRM`,
  agent: t`Entered by an agent`,
};

/** Shows where a value comes from. */
export function SourceChip({ source }: { source: VisitorFieldSource }) {
  return (
    <span class="source" title={SOURCE_DESCRIPTIONS[source]}>
      {SOURCE_LABELS[source]}
    </span>
  );
}
