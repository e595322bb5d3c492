/* The audit log: who signed in, changed, exported or erased something, when, and from where. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { AuditEntry, AuditQuery } from "../../api/types";
import { TableHead } from "../../ui/table-head";
import { currentMinute, fullTime, shortDay, clockTime, localDay } from "../../ui/time";
import { compareNames } from "../../ui/words";
import { FilterSelect } from "../admin/filter-select";
import { EmptyList } from "../admin/list-page";
import { PagedList, RefreshButton } from "../admin/paged-list";
import { useLoaded } from "../admin/use-loaded";
import { usePaged } from "../admin/use-paged";
import { webhookName } from "../deliveries/log-filter";
import { hrefOf } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import {
  actionText,
  auditQuery,
  fieldText,
  INITIAL_AUDIT_FILTER,
  KIND_NAMES,
  resourceName,
  resourceRoute,
  type AuditFilter,
  type AuditPeriod,
} from "./audit-model";
import { plural, t, tIn } from "../../texts/translate";

const KINDS = [
  { value: "" as const, label: t`Everything` },
  ...(Object.keys(KIND_NAMES) as (keyof typeof KIND_NAMES)[]).map((kind) => ({ value: kind, label: KIND_NAMES[kind] })),
];
const PERIODS: readonly { value: AuditPeriod; label: string }[] = [
  { value: "any", label: t`Any time` },
  { value: "day", label: t`Last 24 hours` },
  { value: "week", label: t`Last 7 days` },
  { value: "month", label: t`Last 30 days` },
];
const now = () => Math.floor(Date.now() / 1000);

export function AuditPage({ tabs }: { tabs: ComponentChildren }) {
  const { api } = useWorkspace();
  const [filter, setFilter] = useState(INITIAL_AUDIT_FILTER);
  const agents = useLoaded(async () => (await api.get("/admin/agents")).agents).value ?? [];
  const { webhooks } =
    useLoaded(async () => {
      const { webhooks } = await api.get("/admin/settings");
      return { webhooks: new Map(webhooks.map((webhook) => [webhook.webhook_id, webhookName(webhook)])) };
    }).value ?? {};
  const log = usePaged<AuditQuery, AuditEntry>({
    key: JSON.stringify(filter),
    createQuery: () => auditQuery(filter, now()),
    keyOf: ({ id }) => id,
    read: async (query, cursor, signal) => {
      const page = await api.get("/admin/audit", { query: cursor === null ? query : { ...query, cursor }, signal });
      return { rows: page.entries, next: page.next };
    },
  });
  const change = (changes: Partial<AuditFilter>) => setFilter({ ...filter, ...changes });
  const isNarrowed = JSON.stringify(filter) !== JSON.stringify(INITIAL_AUDIT_FILTER);
  return (
    <div class="table-page audit-log">
      <header>
        <h2>{t`Audit log`}</h2>
        {tabs}
        <span class="grow" />
        <RefreshButton onClick={log.reload} />
      </header>
      <div class="scroll">
        <div class="filters" role="search" aria-label={t`Filter the log`}>
          <FilterSelect label={t`What`} value={filter.kind} options={KINDS} onChange={(kind) => change({ kind })} />
          <FilterSelect
            label={t`Who`}
            value={filter.agent}
            options={[
              { value: "", label: t`Anybody` },
              ...[...agents].sort(compareNames).map(({ agent_id, name }) => ({ value: String(agent_id), label: name })),
            ]}
            onChange={(agent) => change({ agent })}
          />
          <FilterSelect
            label={t`Time`}
            value={filter.period}
            options={PERIODS}
            onChange={(period) => change({ period })}
          />
        </div>
        <PagedList
          log={log}
          what={t`The audit log`}
          none={t`No entries`}
          countText={(count, shown) => plural(count, "{count} entry", "{count} entries", shown)}
          empty={<NoEntries isNarrowed={isNarrowed} />}
        >
          {(rows) => <AuditTable rows={rows} webhooks={webhooks} isLoading={log.isLoading} />}
        </PagedList>
      </div>
    </div>
  );
}

const NoEntries = ({ isNarrowed }: { isNarrowed: boolean }) => (
  <EmptyList
    icon="clock"
    title={t`Nothing found`}
    text={
      isNarrowed
        ? t`Choose something else, or another time.`
        : t`Sign-ins, changes, exports and erasures appear here for 400 days.`
    }
  />
);

interface AuditTableProps {
  rows: readonly AuditEntry[];
  /** The addresses of the webhooks by id. Undefined until they are loaded. */
  webhooks: ReadonlyMap<string, string> | undefined;
  isLoading: boolean;
}

const AuditTable = ({ rows, webhooks, isLoading }: AuditTableProps) => (
  <table aria-busy={isLoading}>
    <TableHead
      columns={[
        t`What`,
        t`Which`,
        [t`Fields`, "wide-only"],
        [t`Who`, "wide-only"],
        [tIn("address", "From"), "wide-only"],
        [t`When`, "end"],
      ]}
    />
    <tbody>
      {rows.map((row) => (
        <AuditRow key={row.id} row={row} webhooks={webhooks} />
      ))}
    </tbody>
  </table>
);

function AuditRow({ row, webhooks }: { row: AuditEntry } & Pick<AuditTableProps, "webhooks">) {
  const { timestamp, agent, source_address: address, fields } = row;
  const route = resourceRoute(row);
  const name = resourceName(row, webhooks);
  const who = agent?.name ?? t`The operator`;
  const fieldTexts = fields.map(fieldText).join(", ");
  const isToday = localDay(timestamp) === localDay(currentMinute.value);
  return (
    <tr>
      <td class="what">
        {actionText(row)}
        <span class="narrow-only">{fieldTexts}</span>
      </td>
      <td class="which">
        <div class="clip" dir="auto">
          {route === undefined ? (
            name
          ) : (
            <a class="link" href={hrefOf(route)}>
              {name}
            </a>
          )}
        </div>
        <span class="narrow-only" dir="auto">
          {who}, {address}
        </span>
      </td>
      <td class="wide-only fields">{fieldTexts}</td>
      <td class="wide-only who" dir="auto">
        {who}
      </td>
      <td class="wide-only num">{address}</td>
      <td class="num end">
        <time dateTime={new Date(timestamp * 1000).toISOString()} title={fullTime(timestamp)}>
          {shortDay(timestamp, currentMinute.value)}
          {!isToday && <span class="wide-only">, {clockTime(timestamp)}</span>}
        </time>
      </td>
    </tr>
  );
}
