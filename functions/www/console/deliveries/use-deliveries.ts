import { useEffect, useRef } from "preact/hooks";
import type { Delivery, DeliveryLogEntry, DeliveryQuery } from "../../api/types";
import { announce } from "../../ui/announcer";
import { usePaged } from "../admin/use-paged";
import { useWorkspace } from "../workspace-context";
import { readAllStates } from "./all-states";
import { rowKey, STATE_NAMES } from "./log-filter";
import { followDelivery } from "./replay";
import { t } from "../../texts/translate";

/** Loads the deliveries of a query, page by page. `key` identifies the query, because the query's times depend on the
 * clock. A query without a state is for all of them. If `createQuery` returns undefined, nothing is loaded. `onSettled` is called after a delivery that was sent
 * again has arrived or failed. */
export function useDeliveries(key: string, createQuery: () => DeliveryQuery | undefined, onSettled: () => void) {
  const { api } = useWorkspace();
  const allStates = useRef<ReturnType<typeof readAllStates>>(undefined);
  const readPage = async (query: DeliveryQuery, cursor: string | null, signal: AbortSignal) => {
    const page = await api.get("/admin/deliveries", { query: cursor === null ? query : { ...query, cursor }, signal });
    return { rows: page.deliveries, next: page.next };
  };
  const { updateRows, ...log } = usePaged<DeliveryQuery, DeliveryLogEntry>({
    key,
    createQuery,
    keyOf: rowKey,
    read: async (query, cursor, signal) => {
      if (query.state !== undefined) return readPage(query, cursor, signal);
      if (cursor === null)
        allStates.current = readAllStates((state, cursor, signal) => readPage({ ...query, state }, cursor, signal));
      return allStates.current?.(cursor, signal) ?? { rows: [], next: null };
    },
  });
  const closed = useRef(new AbortController());
  useEffect(() => () => closed.current.abort(), []);

  /** Shows a newer state of a delivery. It stays in the list, even if it no longer matches the query. */
  const update = (changed: DeliveryLogEntry, delivery: Delivery) =>
    updateRows((row) => (rowKey(row) === rowKey(changed) ? withDelivery(row, delivery) : row));
  /** Shows the changing state of a delivery that has been sent again. */
  const follow = (row: DeliveryLogEntry) => {
    update(row, { state: "pending", attempts: row.attempts });
    announce(t`Sent again`);
    followDelivery(api, row, closed.current.signal, (delivery) => {
      update(row, delivery);
      if (delivery.state === "pending") return;
      announce(STATE_NAMES[delivery.state]);
      onSettled();
    }).catch(() => {
      // If the delivery cannot be read, the row shows its new state only after the list is loaded again.
    });
  };
  return { ...log, follow };
}

/** Returns a row with another state of its delivery. */
function withDelivery(row: DeliveryLogEntry, delivery: Delivery): DeliveryLogEntry {
  const { error: _, attempts_left_out: __, ...rest } = row;
  return { ...rest, ...delivery };
}
