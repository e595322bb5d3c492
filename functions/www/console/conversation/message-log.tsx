/* Shows the open chat's messages. Manages the scroll position and the button for new messages. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { dayLabel, currentMinute } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { describeEvents } from "./event-text";
import { firstUnread, groupTimeline, type TimelineItem } from "./timeline-grouping";
import { loadedPhoto } from "../visitor/visitor-photo";
import { TurnView } from "./message-turn";

/** The number of items rendered at first, and added each time the reader scrolls to the top. */
const ITEMS_PER_PAGE = 60;
/** The log counts as scrolled to the end if it is less than this far from the end. */
const NEAR_END_PX = 64;
const UNREAD_OFFSET_PX = 72;

export function MessageLog({ chatId, name }: { chatId: number; name: string }) {
  const workspace = useWorkspace();
  const timeline = workspace.timelines.open(chatId);
  const entries = timeline.entries.value;
  const isReady = timeline.loadState.value === "ready";
  const outgoing = workspace.outbox.items.value.filter((item) => item.chatId === chatId);
  const visitor = timeline.chatDetails.value?.visitor;
  const typing = workspace.typing.visitors.notices.value.get(chatId);
  const typingColleague = workspace.typing.colleagues.notices.value.get(chatId);

  const [shownItemCount, setShownItemCount] = useState(ITEMS_PER_PAGE);
  const [newMessageCount, setNewMessageCount] = useState(0);
  const [isAtEnd, setAtEnd] = useState(true);
  const scrollContainer = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const topSentinel = useRef<HTMLDivElement>(null);
  const isFollowingEnd = useRef(true);
  const isPositioned = useRef(false);
  const lastRendered = useRef({ last: 0, outgoing: 0 });
  /** The distance from the end, saved before older items are added above so that it can be restored; otherwise
   * undefined. */
  const distanceFromEnd = useRef<number | undefined>(undefined);
  /** The read position when the chat was opened. It does not change, so that the unread line stays in place. */
  const initialReadMark = useRef<{ upTo: number | undefined }>(undefined);
  if (isReady) initialReadMark.current ??= { upTo: workspace.reading.readPosition(chatId) };
  const readMark = initialReadMark.current?.upTo;

  const items = useMemo(
    () =>
      groupTimeline({ entries, outgoing, me: workspace.me, readUpTo: readMark, keys: workspace.sentMessages.itemKeys }),
    [entries, outgoing.length, outgoing, readMark],
  );
  const visibleItems = items.length > shownItemCount ? items.slice(items.length - shownItemCount) : items;
  const hasMoreAbove = visibleItems.length < items.length || timeline.hasOlder.value;

  const scrollToEnd = () => {
    const element = scrollContainer.current;
    if (element === null) return;
    isFollowingEnd.current = true;
    setAtEnd(true);
    setNewMessageCount(0);
    element.scrollTop = element.scrollHeight;
  };

  const updateReadPosition = () => {
    const isReading = isPositioned.current && isFollowingEnd.current && document.visibilityState === "visible";
    workspace.chats.readingChatId.value = isReading ? chatId : undefined;
    if (isReading) workspace.reading.markRead(chatId);
  };

  // Scroll to the initial position: the unread line, or the end if there are no unread messages.
  useLayoutEffect(() => {
    const element = scrollContainer.current;
    if (!isReady || element === null || isPositioned.current) return;
    const unread = firstUnread(entries, readMark);
    const index = unread === undefined ? -1 : items.findIndex((item) => item.kind === "unread");
    if (index >= 0 && items.length - index > shownItemCount) {
      setShownItemCount(items.length - index + ITEMS_PER_PAGE);
      return;
    }
    isPositioned.current = true;
    lastRendered.current = { last: timeline.lastSeq, outgoing: outgoing.length };
    element.scrollTop = element.scrollHeight;
    const line = element.querySelector<HTMLElement>(".unread-line");
    if (line !== null) {
      const top = line.offsetTop - UNREAD_OFFSET_PX;
      if (top < element.scrollTop) element.scrollTop = top;
    }
    isFollowingEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    setAtEnd(isFollowingEnd.current);
    updateReadPosition();
  }, [isReady, shownItemCount]);

  // If the reader is at the end of the log, scroll to new messages. If the reader has scrolled up, only count them.
  useLayoutEffect(() => {
    if (!isPositioned.current) return;
    const hasNewOwnMessage = outgoing.length > lastRendered.current.outgoing;
    const newMessages = entries.filter((entry) => entry.seq > lastRendered.current.last && entry.from !== "system");
    const newFromOthers = newMessages.filter(
      (entry) => entry.from !== "agent" || entry.agent?.id !== workspace.me.id,
    ).length;
    lastRendered.current = { last: Math.max(lastRendered.current.last, timeline.lastSeq), outgoing: outgoing.length };
    if (hasNewOwnMessage || isFollowingEnd.current) {
      scrollToEnd();
      updateReadPosition();
    } else if (newFromOthers > 0) {
      setNewMessageCount((count) => count + newFromOthers);
    }
  }, [entries, outgoing.length, typing === undefined, typingColleague === undefined]);

  // Keep the visible messages in place when older ones are added above.
  useLayoutEffect(() => {
    const element = scrollContainer.current;
    if (element === null || distanceFromEnd.current === undefined) return;
    element.scrollTop = element.scrollHeight - distanceFromEnd.current;
    distanceFromEnd.current = undefined;
  }, [visibleItems.length, entries]);

  // Keep the end visible when an image, the composer or the window changes height.
  useEffect(() => {
    const element = scrollContainer.current;
    const contentElement = content.current;
    if (element === null || contentElement === null) return;
    const resizeObserver = new ResizeObserver(() => {
      if (isPositioned.current && isFollowingEnd.current) element.scrollTop = element.scrollHeight;
    });
    resizeObserver.observe(element);
    resizeObserver.observe(contentElement);
    const onVisible = () => updateReadPosition();
    document.addEventListener("visibilitychange", onVisible);
    addEventListener("focus", onVisible);
    return () => {
      resizeObserver.disconnect();
      document.removeEventListener("visibilitychange", onVisible);
      removeEventListener("focus", onVisible);
      if (workspace.chats.readingChatId.peek() === chatId) workspace.chats.readingChatId.value = undefined;
    };
  }, []);

  useEffect(() => {
    const top = topSentinel.current;
    const element = scrollContainer.current;
    if (top === null || element === null || !hasMoreAbove || !isReady) return;
    const observer = new IntersectionObserver(
      (changes) => {
        if (!isPositioned.current || !changes.some((change) => change.isIntersecting)) return;
        distanceFromEnd.current = element.scrollHeight - element.scrollTop;
        if (visibleItems.length < items.length) setShownItemCount(shownItemCount + ITEMS_PER_PAGE);
        else
          void timeline.loadOlder().then(
            () => setShownItemCount((count) => count + ITEMS_PER_PAGE),
            () => (distanceFromEnd.current = undefined),
          );
      },
      { root: element, rootMargin: "600px 0px 0px" },
    );
    observer.observe(top);
    return () => observer.disconnect();
  }, [hasMoreAbove, isReady, visibleItems.length, items.length]);

  const onScroll = () => {
    const element = scrollContainer.current;
    if (element === null || !isPositioned.current) return;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    if (atEnd !== isFollowingEnd.current) {
      isFollowingEnd.current = atEnd;
      setAtEnd(atEnd);
      if (atEnd) setNewMessageCount(0);
    }
    updateReadPosition();
  };

  return (
    <div class="log-frame">
      <div
        ref={scrollContainer}
        class="log scroll"
        role="region"
        aria-label="Messages"
        tabIndex={0}
        onScroll={onScroll}
      >
        <div ref={content} class="inner">
          {!isReady && entries.length === 0 && outgoing.length === 0 ? (
            <Skeletons />
          ) : (
            <>
              <div ref={topSentinel} class="top">
                {timeline.isLoadingOlder.value && <span class="appear-late">Loading…</span>}
              </div>
              <span class="grow" />
              {visitor?.invite && !hasMoreAbove && (
                <p class="event">
                  <span dir="auto">
                    <b>Invited</b> with “{visitor.invite}”
                  </span>
                </p>
              )}
              {visibleItems.map((item) => (
                <TimelineItemView
                  key={item.key}
                  item={item}
                  chatId={chatId}
                  name={name}
                  photo={loadedPhoto(visitor?.photo)}
                />
              ))}
              {items.length === 0 && !visitor?.invite && <p class="event">No messages yet</p>}
              {typing !== undefined && (
                <p class="typing">
                  <TypingDots />
                  <span class="clip">
                    {name.split(" ")[0]} is typing{typing.text ? ": " : "…"}
                  </span>
                  {typing.text && <q dir="auto">{typing.text}</q>}
                </p>
              )}
              {typingColleague !== undefined && (
                <p class="typing">
                  <TypingDots />
                  <span class="clip">{typingColleague.name} is replying…</span>
                </p>
              )}
            </>
          )}
        </div>
      </div>
      {isReady && !isAtEnd && (
        <div class="news">
          <button type="button" class={newMessageCount > 0 ? "fresh" : undefined} onClick={scrollToEnd}>
            <Icon name="arrow-down" />
            {newMessageCount > 0
              ? `${newMessageCount} new ${newMessageCount === 1 ? "message" : "messages"}`
              : "Latest"}
          </button>
        </div>
      )}
    </div>
  );
}

function TimelineItemView({
  item,
  chatId,
  name,
  photo,
}: {
  item: TimelineItem;
  chatId: number;
  name: string;
  photo: string | null | undefined;
}) {
  const { me } = useWorkspace();
  switch (item.kind) {
    case "day":
      return (
        <h3 class="event day">
          <span>{dayLabel(item.at, currentMinute.value)}</span>
        </h3>
      );
    case "unread":
      return (
        <p class="event unread-line">
          <span>New</span>
        </p>
      );
    case "event":
      return (
        <p class="event">
          <span>{describeEvents(item.entries, me.id)}</span>
        </p>
      );
    case "turn":
      return <TurnView turn={item} chatId={chatId} name={name} photo={photo} />;
  }
}

function Skeletons() {
  const widths = [46, 34, 58, 40, 52];
  return (
    <div class="bubble-skeletons appear-late" aria-label="Loading" role="status">
      {widths.map((width, index) => (
        <span
          key={index}
          class="skeleton"
          style={{ width: `${width}%`, justifySelf: index % 2 === 0 ? "start" : "end" }}
        />
      ))}
    </div>
  );
}

function TypingDots() {
  return (
    <>
      <span class="dot" />
      <span class="dot" />
      <span class="dot" />
    </>
  );
}
