/* The filter of the inbox's lists: each tab keeps its own, and the address shows that of the current tab. */

import { computed, effect, signal } from "@preact/signals";
import type { ChatRow, SavedView } from "../../../api/types";
import { tabStorage } from "../../../ui/storage";
import { replaceQuery, route } from "../page/route";
import { activeTab } from "./view-state";
import type { Tab } from "./chats";

/** What the shown chats have in common. Absent fields do not restrict the list. */
export interface ChatFilter {
  unread?: true;
  unanswered?: true;
  /** Whether a private note mentions the agent. */
  mentioned?: true;
  tagId?: number;
  channelId?: string;
  departmentId?: number;
}

type Filters = Partial<Record<Tab, ChatFilter>>;

const filters = signal<Filters>(tabStorage.read<Filters>("filters") ?? {});
effect(() => tabStorage.write("filters", filters.value));

/** The filter of the current tab. */
export const activeFilter = computed<ChatFilter>(() => filters.value[activeTab.value] ?? {});

export const isFiltered = (filter: ChatFilter) => Object.keys(filter).length > 0;

export function setFilter(tab: Tab, filter: ChatFilter): void {
  filters.value = { ...filters.peek(), [tab]: filter };
}

/** Returns the filter with these fields. Undefined fields are removed. */
export function withFields(filter: ChatFilter, fields: { [Name in keyof ChatFilter]: ChatFilter[Name] | undefined }) {
  return Object.fromEntries(
    Object.entries({ ...filter, ...fields }).filter(([, value]) => value !== undefined),
  ) as ChatFilter;
}

/** Whether the chat meets all conditions. The service does not know what the agent has read, so `isUnread` comes from
 * this browser. */
export function selects(filter: ChatFilter, row: ChatRow, isUnread: boolean, me?: number): boolean {
  const { unread, unanswered, mentioned, tagId, channelId, departmentId } = filter;
  return (
    (unread === undefined || isUnread) &&
    (unanswered === undefined || row.last_message?.from === "visitor") &&
    (mentioned === undefined || (row.mentions ?? []).some(({ agent_id }) => agent_id === me)) &&
    (tagId === undefined || (row.tag_ids ?? []).includes(tagId)) &&
    (channelId === undefined || row.channel.channel_id === channelId) &&
    (departmentId === undefined || row.department?.id === departmentId)
  );
}

/** Returns the parameters with which the service filters a list. */
export function serviceFilter({ unanswered, mentioned, tagId, channelId, departmentId }: ChatFilter) {
  return {
    ...(unanswered === undefined ? {} : { unanswered }),
    ...(mentioned === undefined ? {} : { mentioned }),
    ...(tagId === undefined ? {} : { tag_id: tagId }),
    ...(channelId === undefined ? {} : { channel_id: channelId }),
    ...(departmentId === undefined ? {} : { department_id: departmentId }),
  };
}

/** Returns the filter as the address shows it; an empty text for none. */
export function queryOf(filter: ChatFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) query.set(name, String(value));
  return query.toString();
}

/** Reads a filter from the address. What is not valid is ignored. */
export function filterOf(query: string): ChatFilter {
  const fields = new URLSearchParams(query);
  const number = (name: string) =>
    /^[1-9]\d{0,15}$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : undefined;
  const flag = (name: string) => (fields.get(name) === "true" ? true : undefined);
  const channelId = fields.get("channelId") ?? "";
  return withFields(
    {},
    {
      unread: flag("unread"),
      unanswered: flag("unanswered"),
      mentioned: flag("mentioned"),
      tagId: number("tagId"),
      channelId: /^[A-Za-z0-9]{1,64}$/.test(channelId) ? channelId : undefined,
      departmentId: number("departmentId"),
    },
  );
}

/** Keeps the address and the filter of the current tab the same. An address with a filter that somebody opens sets the
 * filter; one without a filter, such as a link to a chat, keeps it. Returns a function that stops this. */
export function keepFilterInAddress(): () => void {
  let shownQuery: string | undefined;
  return effect(() => {
    const { section, query } = route.value;
    const filterQuery = queryOf(activeFilter.value);
    if (section !== "inbox") return;
    if (query !== undefined && query !== shownQuery) {
      shownQuery = query;
      setFilter(activeTab.peek(), filterOf(query));
      return;
    }
    shownQuery = filterQuery === "" ? undefined : filterQuery;
    if (query !== shownQuery) replaceQuery(filterQuery);
  });
}

export const filterOfView = ({ unread, unanswered, tag_id, channel_id, department_id }: SavedView): ChatFilter =>
  withFields(
    {},
    {
      unread: unread ? true : undefined,
      unanswered: unanswered ? true : undefined,
      tagId: tag_id,
      channelId: channel_id,
      departmentId: department_id,
    },
  );

/** Returns a view that shows what the tab shows with this filter. */
export const viewOf = (name: string, list: SavedView["list"], filter: ChatFilter): SavedView => ({
  name,
  list,
  unread: filter.unread ?? false,
  unanswered: filter.unanswered ?? false,
  ...(filter.tagId === undefined ? {} : { tag_id: filter.tagId }),
  ...(filter.channelId === undefined ? {} : { channel_id: filter.channelId }),
  ...(filter.departmentId === undefined ? {} : { department_id: filter.departmentId }),
});

export const isShown = (view: SavedView) =>
  activeTab.value === view.list && queryOf(activeFilter.value) === queryOf(filterOfView(view));

export function showView(view: SavedView): void {
  setFilter(view.list, filterOfView(view));
  activeTab.value = view.list;
}
