import { useState } from "preact/hooks";
import type { AgentPanel } from "../../api/types";
import { Icon } from "../../ui/icons";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { CustomData, linesOf } from "./custom-data";
import { isWebUrl } from "./external-link";
import { t } from "../../texts/translate";

/** What webhooks have returned about the visitor (specification, part C). */
export function CrmCard({ chatId, panel, isMine }: { chatId: number; panel: AgentPanel; isMine: boolean }) {
  const { api, timelines } = useWorkspace();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { enable_assign, crm_link, assignment } = panel;
  const lines = linesOf(panel, "crm");
  if (lines.length === 0 && !enable_assign && crm_link === null && assignment === null) return null;
  const assign = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await api.post("/agent/chats/{chat_id}/assign", { path: { chat_id: chatId } });
      const timeline = timelines.peek(chatId);
      const current = timeline?.chatDetails.peek()?.panel;
      if (current !== undefined && current.assignment?.state !== "done")
        timeline?.applyPanel({ ...current, assignment: { state: "pending" } });
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  const isPending = assignment?.state === "pending";
  return (
    <section class="card" aria-label={t`From your CRM`}>
      <h3>{t`From your CRM`}</h3>
      {enable_assign && assignment?.state !== "done" && (
        <button
          type="button"
          class="btn line wide"
          aria-disabled={isBusy || isPending || !isMine}
          title={isMine ? undefined : t`Accept the chat first`}
          onClick={() => void assign()}
        >
          {isPending ? t`Assigning…` : assignment?.state === "failed" ? t`Assign again` : t`Assign to a card`}
        </button>
      )}
      {assignment?.state === "done" && (
        <p class="outcome done" role="status">
          <Icon name="circle-check" />
          {t`Assigned to the CRM card`}
        </p>
      )}
      {assignment?.state === "failed" && (
        <p class="outcome failed" role="status">
          <Icon name="circle-alert" />
          <span dir="auto">{t`Not assigned. ${assignment.message ?? ""}`}</span>
        </p>
      )}
      {problem !== undefined && (
        <p class="outcome failed" role="alert">
          <Icon name="circle-alert" />
          {problem}
        </p>
      )}
      <CustomData lines={lines} />
      {isWebUrl(crm_link) && (
        <a class="btn wide" href={crm_link} target="_blank" rel="noopener noreferrer">
          {t`Open in CRM`}
          <Icon name="external-link" class="small" />
        </a>
      )}
    </section>
  );
}
