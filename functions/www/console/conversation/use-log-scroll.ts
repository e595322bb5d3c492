/* The scroll position of the message log: where it starts, when it follows new messages, and when older ones are shown. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../../api/types";
import type { OutgoingItem } from "../state/chat/outbox";
import type { Timeline } from "../state/chat/timeline";
import { useWorkspace } from "../workspace-context";
import { firstUnread, type TimelineItem } from "./timeline-grouping";

/** The number of items rendered at first, and added each time the reader scrolls to the top. */
const ITEMS_PER_PAGE = 60;
/** The log counts as scrolled to the end if it is less than this far from the end. */
const NEAR_END_PX = 64;
const UNREAD_OFFSET_PX = 72;

interface Log {
  chatId: number;
  timeline: Timeline;
  entries: readonly Entry[];
  outgoing: readonly OutgoingItem[];
  items: readonly TimelineItem[];
  isReady: boolean;
  readMark: number | undefined;
}

/** The end of the log, and whether the log stays there when messages arrive. */
interface LogEnd {
  container: RefObject<HTMLDivElement | null>;
  /** Whether the log has been scrolled to its initial position. */
  isPositioned: { current: boolean };
  isFollowed: { current: boolean };
  isShown: boolean;
  newMessageCount: number;
  countNewMessages: (count: number) => void;
  scrollTo: () => void;
  onScroll: () => void;
  /** Follows the end if it is visible now. */
  measure: () => void;
  /** Marks the chat as read if the reader sees the end. */
  updateReadPosition: () => void;
}

interface ShownItems {
  count: number;
  setCount: (change: number | ((count: number) => number)) => void;
}

export function useLogScroll(log: Log) {
  const end = useLogEnd(log.chatId);
  const [count, setCount] = useState(ITEMS_PER_PAGE);
  const shown = { count, setCount };
  const { items } = log;
  const visibleItems = items.length > count ? items.slice(items.length - count) : items;
  const hasMoreAbove = visibleItems.length < items.length || log.timeline.hasOlder.value;
  const lastRendered = useRef({ last: 0, outgoing: 0 });
  useInitialPosition(log, end, shown, lastRendered);
  useNewMessages(log, end, lastRendered);
  const top = useOlderItems(log, end, shown, { visibleCount: visibleItems.length, hasMoreAbove });
  const content = useResizing(log, end);
  return { container: end.container, content, top, end, visibleItems, hasMoreAbove };
}

function useLogEnd(chatId: number): LogEnd {
  const workspace = useWorkspace();
  const container = useRef<HTMLDivElement>(null);
  const isPositioned = useRef(false);
  const isFollowed = useRef(true);
  const [isShown, setShown] = useState(true);
  const [newMessageCount, setNewMessageCount] = useState(0);

  const updateReadPosition = () => {
    const isReading = isPositioned.current && isFollowed.current && document.visibilityState === "visible";
    workspace.chats.readingChatId.value = isReading ? chatId : undefined;
    if (isReading) workspace.reading.markRead(chatId);
  };
  const scrollTo = () => {
    const element = container.current;
    if (element === null) return;
    isFollowed.current = true;
    setShown(true);
    setNewMessageCount(0);
    element.scrollTop = element.scrollHeight;
  };
  const measure = () => {
    const element = container.current;
    if (element === null) return;
    isFollowed.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    setShown(isFollowed.current);
    if (isFollowed.current) setNewMessageCount(0);
    updateReadPosition();
  };
  const onScroll = () => {
    if (isPositioned.current) measure();
  };
  const countNewMessages = (count: number) => setNewMessageCount((before) => before + count);
  return {
    container,
    isPositioned,
    isFollowed,
    isShown,
    newMessageCount,
    countNewMessages,
    scrollTo,
    onScroll,
    measure,
    updateReadPosition,
  };
}

type LastRendered = { current: { last: number; outgoing: number } };

/** Scrolls to the initial position: the unread line, or the end if there are no unread messages. */
function useInitialPosition(
  { timeline, entries, outgoing, items, isReady, readMark }: Log,
  end: LogEnd,
  shown: ShownItems,
  lastRendered: LastRendered,
): void {
  useLayoutEffect(() => {
    const element = end.container.current;
    if (!isReady || element === null || end.isPositioned.current) return;
    const unread = firstUnread(entries, readMark);
    const index = unread === undefined ? -1 : items.findIndex((item) => item.kind === "unread");
    if (index >= 0 && items.length - index > shown.count) {
      shown.setCount(items.length - index + ITEMS_PER_PAGE);
      return;
    }
    end.isPositioned.current = true;
    lastRendered.current = { last: timeline.lastSeq, outgoing: outgoing.length };
    element.scrollTop = element.scrollHeight;
    const line = element.querySelector<HTMLElement>(".unread-line");
    if (line !== null) element.scrollTop = Math.min(element.scrollTop, line.offsetTop - UNREAD_OFFSET_PX);
    end.measure();
  }, [isReady, shown.count]);
}

/** If the reader is at the end of the log, scrolls to new messages. If the reader has scrolled up, only counts them. */
function useNewMessages({ chatId, timeline, entries, outgoing }: Log, end: LogEnd, lastRendered: LastRendered): void {
  const { me, typing } = useWorkspace();
  const isVisitorTyping = typing.visitors.notices.value.has(chatId);
  const isColleagueTyping = typing.colleagues.notices.value.has(chatId);
  useLayoutEffect(() => {
    if (!end.isPositioned.current) return;
    const { last, outgoing: outgoingBefore } = lastRendered.current;
    const newFromOthers = entries.filter(
      ({ seq, from, agent }) => seq > last && from !== "system" && (from !== "agent" || agent?.id !== me.id),
    ).length;
    lastRendered.current = { last: Math.max(last, timeline.lastSeq), outgoing: outgoing.length };
    if (outgoing.length > outgoingBefore || end.isFollowed.current) {
      end.scrollTo();
      end.updateReadPosition();
    } else if (newFromOthers > 0) {
      end.countNewMessages(newFromOthers);
    }
  }, [entries, outgoing.length, isVisitorTyping, isColleagueTyping]);
}

/** Shows older items when the reader nears the top, and keeps the visible ones in place. Returns the element that marks
 * the top. */
function useOlderItems(
  { timeline, entries, items, isReady }: Log,
  { container, isPositioned }: LogEnd,
  shown: ShownItems,
  { visibleCount, hasMoreAbove }: { visibleCount: number; hasMoreAbove: boolean },
): RefObject<HTMLDivElement | null> {
  const topSentinel = useRef<HTMLDivElement>(null);
  /** The distance from the end, saved before older items are added above so that it can be restored; otherwise
   * undefined. */
  const distanceFromEnd = useRef<number | undefined>(undefined);

  useLayoutEffect(() => {
    const element = container.current;
    if (element === null || distanceFromEnd.current === undefined) return;
    element.scrollTop = element.scrollHeight - distanceFromEnd.current;
    distanceFromEnd.current = undefined;
  }, [visibleCount, entries]);

  useEffect(() => {
    const top = topSentinel.current;
    const element = container.current;
    if (top === null || element === null || !hasMoreAbove || !isReady) return;
    const observer = new IntersectionObserver(
      (changes) => {
        if (!isPositioned.current || !changes.some((change) => change.isIntersecting)) return;
        distanceFromEnd.current = element.scrollHeight - element.scrollTop;
        if (visibleCount < items.length) shown.setCount(shown.count + ITEMS_PER_PAGE);
        else
          void timeline.loadOlder().then(
            () => shown.setCount((count) => count + ITEMS_PER_PAGE),
            () => (distanceFromEnd.current = undefined),
          );
      },
      { root: element, rootMargin: "600px 0px 0px" },
    );
    observer.observe(top);
    return () => observer.disconnect();
  }, [hasMoreAbove, isReady, visibleCount, items.length]);
  return topSentinel;
}

/** Keeps the end visible when an image, the composer or the window changes height, and marks the chat as read when the
 * reader comes back to the window. Returns the element with the log's content. */
function useResizing(
  { chatId }: Log,
  { container, isPositioned, isFollowed, updateReadPosition }: LogEnd,
): RefObject<HTMLDivElement | null> {
  const { readingChatId } = useWorkspace().chats;
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = container.current;
    const contentElement = content.current;
    if (element === null || contentElement === null) return;
    const resizeObserver = new ResizeObserver(() => {
      if (isPositioned.current && isFollowed.current) element.scrollTop = element.scrollHeight;
    });
    resizeObserver.observe(element);
    resizeObserver.observe(contentElement);
    document.addEventListener("visibilitychange", updateReadPosition);
    addEventListener("focus", updateReadPosition);
    return () => {
      resizeObserver.disconnect();
      document.removeEventListener("visibilitychange", updateReadPosition);
      removeEventListener("focus", updateReadPosition);
      if (readingChatId.peek() === chatId) readingChatId.value = undefined;
    };
  }, []);
  return content;
}
