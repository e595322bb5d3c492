import { useState } from "preact/hooks";
import type { AgentPanel } from "../../api/types";
import { Icon } from "../../ui/icons";
import { LinkedText } from "../../ui/linked-text";
import { errorText } from "../state/workspace";
import { useWorkspace } from "../workspace-context";
import { ExternalLink, isWebUrl } from "./external-link";

export function CrmCard({ chatId, panel, isMine }: { chatId: number; panel: AgentPanel; isMine: boolean }) {
  const workspace = useWorkspace();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { custom_data, enable_assign, crm_link, assignment } = panel;
  if (custom_data.length === 0 && !enable_assign && crm_link === null && assignment === null) return null;
  const assign = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await workspace.assignToCrm(chatId);
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  const isPending = assignment?.state === "pending";
  return (
    <section class="card" aria-label="From your CRM">
      <h3>From your CRM</h3>
      {enable_assign && assignment?.state !== "done" && (
        <button
          type="button"
          class="btn line wide"
          aria-disabled={isBusy || isPending || !isMine}
          title={isMine ? undefined : "Accept the chat first"}
          onClick={() => void assign()}
        >
          {isPending ? "Assigning…" : assignment?.state === "failed" ? "Assign again" : "Assign to a card"}
        </button>
      )}
      {assignment?.state === "done" && (
        <p class="outcome done" role="status">
          <Icon name="circle-check" />
          Assigned to the CRM card
        </p>
      )}
      {assignment?.state === "failed" && (
        <p class="outcome failed" role="status">
          <Icon name="circle-alert" />
          <span dir="auto">Not assigned. {assignment.message}</span>
        </p>
      )}
      {problem !== undefined && (
        <p class="outcome failed" role="alert">
          <Icon name="circle-alert" />
          {problem}
        </p>
      )}
      {custom_data.length > 0 && <CustomData lines={custom_data} />}
      {isWebUrl(crm_link) && (
        <a class="btn wide" href={crm_link} target="_blank" rel="noopener noreferrer">
          Open in CRM
          <Icon name="external-link" class="small" />
        </a>
      )}
    </section>
  );
}

/** Shows the custom data that webhooks have returned (specification, part C). A line's title is shown above its
 * content. Its key is shown before the content, followed by a colon. */
function CustomData({ lines }: { lines: AgentPanel["custom_data"] }) {
  return (
    <div class="custom">
      {lines.map(({ title, content, link, key }, index) => {
        const value = isWebUrl(link) ? (
          <ExternalLink href={link}>{content || link}</ExternalLink>
        ) : (
          <LinkedText text={content} />
        );
        if (key === null && title !== null && content.length <= 40) {
          return (
            <dl key={index}>
              <dt dir="auto">{title}</dt>
              <dd dir="auto">{value}</dd>
            </dl>
          );
        }
        return (
          <div key={index}>
            {title !== null && <h4 dir="auto">{title}</h4>}
            <p dir="auto">
              {key !== null && <b>{key}: </b>}
              {value}
            </p>
          </div>
        );
      })}
    </div>
  );
}
