import type { VisitorFieldSource } from "../../api/types";

const SOURCE_LABELS: Record<VisitorFieldSource, string> = {
  visitor: "visitor",
  script: "page",
  integrator: "integrator",
  bot: "bot",
  crm: "CRM",
  agent: "agent",
};
const SOURCE_DESCRIPTIONS: Record<VisitorFieldSource, string> = {
  visitor: "Entered by the visitor",
  script: "Set by the page, which visitors can change",
  integrator: "Sent by your front end",
  bot: "Sent by the bot",
  crm: "From your CRM",
  agent: "Entered by an agent",
};

/** Shows where a value comes from. */
export function SourceChip({ source }: { source: VisitorFieldSource }) {
  return (
    <span class="source" title={SOURCE_DESCRIPTIONS[source]}>
      {SOURCE_LABELS[source]}
    </span>
  );
}
