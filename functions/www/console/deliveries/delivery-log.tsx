/* The delivery log: deliveries by state, receiver, channel, chat and time. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CappedCount, DeliveryLogEntry, DeliveryState, ReplayRequest } from "../../api/types";
import { csvText } from "../../ui/csv";
import { controlAttributes, FieldNotes, Segments } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { saveFile } from "../../ui/save-file";
import { TableHead } from "../../ui/table-head";
import { compareNames } from "../../ui/words";
import { TARGET_NAMES, TARGETS } from "../admin/delivery-targets";
import { FilterSelect } from "../admin/filter-select";
import { EmptyList } from "../admin/list-page";
import { PagedList, RefreshButton } from "../admin/paged-list";
import { useLoaded } from "../admin/use-loaded";
import { cappedText, countFailedDeliveries } from "../state/alerts/failed-deliveries";
import { replaceQuery, route } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { DeliveryRow } from "./delivery-row";
import {
  addressOf,
  CSV_COLUMNS,
  csvRow,
  filterOf,
  filterProblem,
  INITIAL_FILTER,
  isReplayable,
  queryOf,
  replayScope,
  rowKey,
  STATES,
  STATE_NAMES,
  type FilterProblem,
  type LogFilter,
  type Period,
  type Receivers,
} from "./log-filter";
import { OutageList } from "./outage-list";
import { ReplayDialog } from "./replay-dialog";
import { useDeliveries } from "./use-deliveries";
import { plural, t, tIn } from "../../texts/translate";

type Counts = Partial<Record<DeliveryState, CappedCount | null>>;

/** Returns the options of the state filter, each with the number of deliveries if it is known. */
const statesWith = (counts: Counts): { value: LogFilter["state"]; label: string }[] => [
  ...STATES.map((state) => {
    const count = counts[state];
    const number = count === undefined || count === null || count.count === 0 ? "" : ` ${cappedText(count)}`;
    return { value: state, label: STATE_NAMES[state] + number };
  }),
  { value: "all", label: t`All` },
];
const TARGET_OPTIONS: readonly { value: LogFilter["target"]; label: string }[] = [
  { value: "", label: t`Any receiver` },
  ...TARGET_NAMES.map((target) => ({ value: target, label: TARGETS[target].all })),
];
const PERIODS: readonly { value: Period; label: string }[] = [
  { value: "any", label: t`Any time` },
  { value: "hour", label: t`Last hour` },
  { value: "day", label: t`Last 24 hours` },
  { value: "week", label: t`Last 7 days` },
  { value: "range", label: t`From … to …` },
];

const now = () => Math.floor(Date.now() / 1000);

function useReceivers() {
  const { api } = useWorkspace();
  return useLoaded(async (): Promise<Receivers> => {
    const [{ channels }, { webhooks }, { bots }] = await Promise.all([
      api.get("/admin/channels"),
      api.get("/admin/settings"),
      api.get("/admin/bots"),
    ]);
    return { channels: [...channels].sort(compareNames), webhooks, bots };
  });
}

const listAsCsv = (rows: readonly DeliveryLogEntry[], receivers: Receivers | undefined) =>
  csvText(
    CSV_COLUMNS,
    rows.map((row) => csvRow(row, receivers)),
  );

export function DeliveryLog({ tabs }: { tabs: ComponentChildren }) {
  const filter = filterOf(route.value.query);
  const [openRow, setOpenRow] = useState<string>();
  /** The request that sends deliveries again. Undefined while its dialog is closed. */
  const [replay, setReplay] = useState<ReplayRequest>();
  const { value: receivers, reload: reloadReceivers } = useReceivers();
  const problem = filterProblem(filter);
  const { api } = useWorkspace();
  const counts = useLoaded(() => api.get("/admin/deliveries/counts"));
  const outages = useLoaded(() => api.get("/admin/outages"));
  const count = () => {
    counts.reload();
    outages.reload();
    void countFailedDeliveries(api);
  };
  const createQuery = () => (problem === undefined ? queryOf(filter, now()) : undefined);
  const key = JSON.stringify(filter);
  const log = useDeliveries(key, createQuery, count);
  const { rows } = log;
  const reload = () => {
    log.reload();
    reloadReceivers();
    count();
  };

  const change = (changes: Partial<LogFilter>) => {
    setOpenRow(undefined);
    replaceQuery(addressOf({ ...filter, ...changes }));
  };
  const failedCount = rows?.filter(isReplayable).length ?? 0;
  // The rows of the previous filter are shown until those of the current one are loaded.
  const areRowsCurrent = log.loadedKey === key && log.problem === undefined;
  const canReplay =
    filter.state === "failed" && failedCount > 0 && areRowsCurrent && replayScope(filter, 0) !== undefined;
  return (
    <div class="table-page delivery-log">
      <header>
        <h2>{t`Deliveries`}</h2>
        {tabs}
        <span class="grow" />
        <RefreshButton onClick={reload} />
        {rows !== undefined && rows.length > 0 && (
          <button
            type="button"
            class="btn only-icon"
            aria-label={t`Save the list as CSV`}
            title={t`Save the list as CSV`}
            onClick={() => saveFile("deliveries.csv", "text/csv", [listAsCsv(rows, receivers)])}
          >
            <Icon name="download" />
          </button>
        )}
        {canReplay && (
          <button
            type="button"
            class="btn primary"
            aria-label={t`Send failed again`}
            onClick={() => setReplay(replayScope(filter, now()))}
          >
            <Icon name="send-horizontal" />
            <span>{t`Send failed again…`}</span>
          </button>
        )}
      </header>
      <div class="scroll">
        <OutageList outages={outages.value?.outages ?? []} receivers={receivers} onResumed={reload} />
        <Filters
          counts={isNarrowed(filter) ? {} : (counts.value ?? {})}
          filter={filter}
          problem={problem}
          channels={receivers?.channels ?? []}
          onChange={change}
        />
        <PagedList
          log={log}
          what={t`The deliveries`}
          none={t`No deliveries`}
          countText={(count, shown) => plural(count, "{count} delivery", "{count} deliveries", shown)}
          empty={problem === undefined && <NoDeliveries filter={filter} />}
        >
          {(rows) => (
            <LogTable
              isLoading={log.isLoading}
              rows={rows}
              receivers={receivers}
              openRow={openRow}
              onToggle={(key) => setOpenRow(key === openRow ? undefined : key)}
              onReplayed={log.follow}
            />
          )}
        </PagedList>
      </div>
      {replay !== undefined && (
        <ReplayDialog
          filter={filter}
          scope={replay}
          loadedCount={log.next === null ? failedCount : undefined}
          channels={receivers?.channels ?? []}
          onClose={(hasReplayed) => {
            setReplay(undefined);
            if (hasReplayed) reload();
          }}
        />
      )}
    </div>
  );
}

const FIELD_IDS = { chat: "chat-number", from: "period-from", to: "period-to" } as const;

/** Whether the filter selects by more than the state. */
const isNarrowed = (filter: LogFilter) =>
  JSON.stringify({ ...filter, state: INITIAL_FILTER.state }) !== JSON.stringify(INITIAL_FILTER);

interface FiltersProps {
  counts: Counts;
  filter: LogFilter;
  problem: FilterProblem | undefined;
  channels: Receivers["channels"];
  onChange: (changes: Partial<LogFilter>) => void;
}

function Filters({ counts, filter, problem, channels, onChange }: FiltersProps) {
  const attributesOf = (field: keyof typeof FIELD_IDS) =>
    controlAttributes(FIELD_IDS[field], false, problem?.field === field ? problem.text : undefined);
  return (
    <div class="filters" role="search" aria-label={t`Filter deliveries`}>
      <Segments
        name="state"
        label={t`State`}
        hidesLabel
        value={filter.state}
        options={statesWith(counts)}
        onChange={(state) => onChange({ state })}
      />
      <FilterSelect
        label={t`Receiver`}
        value={filter.target}
        options={TARGET_OPTIONS}
        onChange={(target) => onChange({ target })}
      />
      {channels.length > 1 && (
        <FilterSelect
          label={t`Channel`}
          value={filter.channelId}
          options={[
            { value: "", label: t`Any channel` },
            ...channels.map(({ channel_id, name }) => ({ value: channel_id, label: name })),
          ]}
          onChange={(channelId) => onChange({ channelId })}
        />
      )}
      <FilterSelect
        label={t`Time`}
        value={filter.period}
        options={PERIODS}
        onChange={(period) => onChange({ period })}
      />
      {filter.period === "range" &&
        (["from", "to"] as const).map((name) => (
          <input
            key={name}
            {...attributesOf(name)}
            class="input"
            type="datetime-local"
            aria-label={name === "from" ? t`From` : t`To`}
            value={filter[name]}
            onChange={(event) => onChange({ [name]: event.currentTarget.value })}
          />
        ))}
      <label class="search">
        <Icon name="search" />
        <input
          {...attributesOf("chat")}
          type="search"
          inputmode="numeric"
          placeholder={t`Chat number`}
          aria-label={t`Chat number`}
          autocomplete="off"
          value={filter.chat}
          onInput={(event) => onChange({ chat: event.currentTarget.value })}
        />
      </label>
      <div class="field">
        <FieldNotes id={FIELD_IDS[problem?.field ?? "chat"]} problem={problem?.text} />
      </div>
    </div>
  );
}

function NoDeliveries({ filter }: { filter: LogFilter }) {
  if (filter.state === "failed" && !isNarrowed(filter))
    return (
      <EmptyList
        icon="circle-check"
        title={t`Nothing has failed`}
        text={t`Every delivery has arrived or is on its way.`}
      />
    );
  return (
    <EmptyList
      icon="send-horizontal"
      title={t`No deliveries found`}
      text={isNarrowed(filter) ? t`Choose another receiver, channel or time.` : undefined}
    />
  );
}

interface LogTableProps {
  /** Whether the rows are about to be replaced or followed by others. */
  isLoading: boolean;
  rows: readonly DeliveryLogEntry[];
  receivers: Receivers | undefined;
  openRow: string | undefined;
  onToggle: (key: string) => void;
  onReplayed: (row: DeliveryLogEntry) => void;
}

function LogTable({ isLoading, rows, receivers, openRow, onToggle, onReplayed }: LogTableProps) {
  return (
    <table aria-busy={isLoading}>
      <TableHead
        columns={[
          t`State`,
          t`What`,
          [tIn("receiver", "To"), "wide-only"],
          [t`Chat`, "wide-only"],
          [t`Attempts`, "wide-only end"],
          [t`Result`, "wide-only"],
          [t`Took`, "wide-only end"],
          [t`When`, "end"],
        ]}
      />
      <tbody>
        {rows.map((row) => (
          <DeliveryRow
            key={rowKey(row)}
            row={row}
            receivers={receivers}
            isOpen={rowKey(row) === openRow}
            onToggle={() => onToggle(rowKey(row))}
            onReplayed={onReplayed}
          />
        ))}
      </tbody>
    </table>
  );
}
