import type { AgentPanel } from "../../api/types";
import { LinkedText } from "../../ui/linked-text";
import { ExternalLink, isWebUrl } from "./external-link";
import { t } from "../../texts/translate";

type Lines = AgentPanel["custom_data"];

/** Returns the custom data of one source: what webhooks have returned, what a script on the page has set, or what the
 * visitor has answered in the contacts form. */
export const linesOf = ({ custom_data }: AgentPanel, source: Lines[number]["source"]): Lines =>
  custom_data.filter((line) => line.source === source);

/** Shows custom data in the order in which it was set (specification, part D). A line's title is shown above its content.
 * Its key is shown before the content, followed by a colon. */
export function CustomData({ lines }: { lines: Lines }) {
  if (lines.length === 0) return null;
  return (
    <div class="custom">
      {lines.map(({ title, content, link, key }, index) => (
        <div key={index}>
          {title !== null && <h4 dir="auto">{title}</h4>}
          <p dir="auto">
            {key !== null && <b>{key}: </b>}
            {isWebUrl(link) ? (
              <ExternalLink href={link}>{content || link}</ExternalLink>
            ) : (
              <LinkedText text={content} />
            )}
          </p>
        </div>
      ))}
    </div>
  );
}

/** What a script on the visitor's page has set. It has a card of its own, because visitors can forge it. */
export function PageDataCard({ panel }: { panel: AgentPanel }) {
  const lines = linesOf(panel, "script");
  if (lines.length === 0) return null;
  return (
    <section class="card" aria-label={t`From the page`}>
      <div>
        <h3>{t`From the page`}</h3>
        <p class="hint">{t`Set by the visitor’s browser. Visitors can change it, so do not trust it.`}</p>
      </div>
      <CustomData lines={lines} />
    </section>
  );
}

/** The visitor's answers to the custom fields of the contacts form, below the questions. */
export function AnswersCard({ panel }: { panel: AgentPanel }) {
  const lines = linesOf(panel, "visitor").map((line) => ({ ...line, key: null }));
  if (lines.length === 0) return null;
  return (
    <section class="card" aria-label={t`Answers`}>
      <h3>{t`Answers`}</h3>
      <CustomData lines={lines} />
    </section>
  );
}
