/* A row of the delivery log. It expands to show the attempts and the request. */

import { useRef, useState } from "preact/hooks";
import type { DeliveryLogEntry } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { Icon } from "../../ui/icons";
import { currentMinute, formatDuration, fullTime, shortDay } from "../../ui/time";
import { useLoaded } from "../admin/use-loaded";
import { chatHref } from "../state/page/route";
import { errorText } from "../state/page/error-text";
import { useWorkspace } from "../workspace-context";
import { AttemptList } from "./attempt-list";
import { receiverName, resultText, rowKey, sentName, STATE_NAMES, type Receivers } from "./log-filter";
import { SentRequestView } from "./sent-request-view";
import { t, tIn } from "../../texts/translate";

interface DeliveryRowProps {
  row: DeliveryLogEntry;
  receivers: Receivers | undefined;
  isOpen: boolean;
  onToggle: () => void;
  onReplayed: (row: DeliveryLogEntry) => void;
}

export function DeliveryRow({ row, receivers, isOpen, onToggle, onReplayed }: DeliveryRowProps) {
  const receiver = receiverName(row, receivers);
  const last = row.attempts.at(-1);
  const attemptCount = row.attempts.length + (row.attempts_left_out ?? 0);
  const detailId = `delivery-${rowKey(row)}`;
  const toggle = useRef<HTMLButtonElement>(null);
  const detail = useRef<HTMLTableRowElement>(null);
  const showReplayed = () => {
    // Move the focus out of the details, because the button that has it disappears while the delivery is pending.
    if (detail.current?.contains(document.activeElement)) toggle.current?.focus();
    onReplayed(row);
  };
  // The button in the row has no handler of its own, because its clicks arrive here. Text of a row can be selected.
  const toggleUnlessSelecting = ({ target }: MouseEvent) => {
    const isButton = target instanceof Node && toggle.current?.contains(target) === true;
    if (isButton || getSelection()?.isCollapsed !== false) onToggle();
  };
  return (
    <>
      <tr class={isOpen ? "open" : undefined} onClick={toggleUnlessSelecting}>
        <td>
          <button
            ref={toggle}
            type="button"
            class="person"
            aria-expanded={isOpen}
            aria-controls={isOpen ? detailId : undefined}
          >
            <span class={`delivery-state ${row.state}`}>
              {row.late === true ? t`Delivered late` : STATE_NAMES[row.state]}
            </span>
          </button>
        </td>
        <td class="what">
          {sentName(row)}
          <span class="clip narrow-only">{receiver}</span>
        </td>
        <td class="wide-only receiver">
          <div class="clip" dir="auto">
            {receiver}
          </div>
        </td>
        <td class="wide-only num">{row.chat_id > 0 ? `#${row.chat_id}` : t`none`}</td>
        <td class="wide-only num end">{attemptCount}</td>
        <td class="wide-only rest">
          <div class="clip" dir="auto">
            {resultText(row)}
          </div>
        </td>
        <td class="wide-only num end">{last === undefined ? "" : formatDuration(last.ms)}</td>
        <td class="num end">
          <time dateTime={new Date(row.since * 1000).toISOString()} title={fullTime(row.since)}>
            {shortDay(row.since, currentMinute.value)}
          </time>
        </td>
      </tr>
      {isOpen && (
        <tr ref={detail} class="delivery-detail" id={detailId}>
          <td colSpan={8}>
            <DeliveryDetail row={row} receiver={receiver} onReplayed={showReplayed} />
          </td>
        </tr>
      )}
    </>
  );
}

interface DeliveryDetailProps {
  row: DeliveryLogEntry;
  receiver: string;
  onReplayed: () => void;
}

function DeliveryDetail({ row, receiver, onReplayed }: DeliveryDetailProps) {
  const { state, attempts, error, attempts_left_out: leftOut } = row;
  return (
    <div class="two">
      <section>
        <h3>{t`Attempts`}</h3>
        <AttemptList attempts={attempts} leftOut={leftOut} />
        {error !== undefined && (
          <p class="quiet-text">
            {t`Result:`} <span dir="auto">{error.message}</span>
            {error.code !== undefined && ` ${t`(code ${error.code})`}`}
          </p>
        )}
        <div class="acts">
          {(state === "failed" || state === "delivered") && row.target !== "call" && (
            <ReplayButton row={row} onReplayed={onReplayed} />
          )}
          {row.chat_id > 0 && (
            <a class="btn" href={chatHref(row.chat_id)}>
              {t`Open chat #${row.chat_id}`}
            </a>
          )}
        </div>
      </section>
      <section>
        <h3>{t`Request`}</h3>
        <DeliveryRequest key={`${state} ${attempts.length}`} row={row} />
        <dl class="facts">
          <dt>{tIn("receiver", "To")}</dt>
          <dd dir="auto">{receiver}</dd>
          <dt>{t`Created`}</dt>
          <dd>{fullTime(row.since)}</dd>
          <dt>webhook-id</dt>
          <dd class="code">
            <code>{row.id}</code>
            <CopyButton text={row.id} label={t`Copy the webhook-id`} />
          </dd>
        </dl>
      </section>
    </div>
  );
}

/** The request that the receiver got or would get, built again from what is stored. */
function DeliveryRequest({ row: { chat_id, seq } }: { row: DeliveryLogEntry }) {
  const { api } = useWorkspace();
  const { value, problem, reload } = useLoaded(() =>
    api.get("/admin/deliveries/{chat_id}/{seq}", { path: { chat_id, seq } }),
  );
  if (problem !== undefined)
    return (
      <p class="notice bad" role="alert">
        <span>{t`The request could not be loaded. ${problem}`}</span>
        <button type="button" class="btn line" onClick={reload}>
          {t`Try again`}
        </button>
      </p>
    );
  if (value === undefined) return <p class="quiet-text request-place appear-late">{t`Loading…`}</p>;
  return <SentRequestView delivery={value} />;
}

function ReplayButton({ row, onReplayed }: Pick<DeliveryDetailProps, "row" | "onReplayed">) {
  const { api } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const replay = async () => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await api.post("/admin/deliveries/replay", { body: { chat_id: row.chat_id, seq: row.seq } });
      onReplayed();
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class={row.state === "failed" ? "btn primary" : "btn line"}
        aria-disabled={isBusy}
        onClick={() => void replay()}
      >
        <Icon name="send-horizontal" />
        {t`Send again`}
      </button>
      {problem !== undefined && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
