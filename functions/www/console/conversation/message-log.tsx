/* The timeline of the open chat: where it opens, what keeps it in place, and what is new. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { dayLabel, minute } from "../../ui/time";
import { useWorkspace } from "../context";
import { describe } from "./events";
import { firstUnread, group, type Item } from "./group";
import { TurnView } from "./turn";

/** Items on the screen at first, and how many more each time the top comes near. */
const WINDOW = 60;
/** Nearer than this to the end counts as reading the end. */
const END_PX = 64;
const UNREAD_OFFSET_PX = 72;

export function Log({ chatId, name }: { chatId: number; name: string }) {
  const workspace = useWorkspace();
  const timeline = workspace.timeline(chatId);
  const entries = timeline.entries.value;
  const isReady = timeline.progress.value === "ready";
  const outgoing = workspace.outbox.items.value.filter((item) => item.chatId === chatId);
  const visitor = timeline.detail.value?.visitor;
  const typing = workspace.typing.visitors.value.get(chatId);

  const [shown, setShown] = useState(WINDOW);
  const [fresh, setFresh] = useState(0);
  const [isAtEnd, setAtEnd] = useState(true);
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sentinel = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const opened = useRef(false);
  const seen = useRef({ last: 0, outgoing: 0 });
  /** Distance from the end that a longer top must keep. */
  const keep = useRef<number | undefined>(undefined);
  /** The mark as it was when the chat was opened: the line stays while it is read. */
  const known = useRef<{ upTo: number | undefined }>(undefined);
  if (isReady) known.current ??= { upTo: workspace.knownUpTo(chatId) };
  const mark = known.current?.upTo;

  const items = useMemo(
    () => group({ entries, outgoing, me: workspace.me, readUpTo: mark, keys: workspace.sentKeys }),
    [entries, outgoing.length, outgoing, mark],
  );
  const visible = items.length > shown ? items.slice(items.length - shown) : items;
  const isCut = visible.length < items.length || timeline.hasOlder.value;

  const toEnd = () => {
    const element = scroller.current;
    if (element === null) return;
    stick.current = true;
    element.scrollTop = element.scrollHeight;
  };

  const read = () => {
    const isReading = opened.current && stick.current && document.visibilityState === "visible";
    workspace.chats.reading.value = isReading ? chatId : undefined;
    if (isReading) workspace.markRead(chatId);
  };

  // Where the chat opens: at the first unread line, else at the end.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!isReady || element === null || opened.current) return;
    const unread = firstUnread(entries, mark);
    const index = unread === undefined ? -1 : items.findIndex((item) => item.kind === "unread");
    if (index >= 0 && items.length - index > shown) {
      setShown(items.length - index + WINDOW);
      return;
    }
    opened.current = true;
    seen.current = { last: timeline.last, outgoing: outgoing.length };
    element.scrollTop = element.scrollHeight;
    const line = element.querySelector<HTMLElement>(".unread-line");
    if (line !== null) {
      const top = line.offsetTop - UNREAD_OFFSET_PX;
      if (top < element.scrollTop) element.scrollTop = top;
    }
    stick.current = element.scrollHeight - element.scrollTop - element.clientHeight < END_PX;
    setAtEnd(stick.current);
    read();
  }, [isReady, shown]);

  // What is new: the reader at the end follows, the reader further up is told how much there is.
  useLayoutEffect(() => {
    if (!opened.current) return;
    const isOwnNew = outgoing.length > seen.current.outgoing;
    const added = entries.filter((entry) => entry.seq > seen.current.last && entry.from !== "system");
    const fromOthers = added.filter((entry) => entry.from !== "agent" || entry.agent?.id !== workspace.me.id).length;
    seen.current = { last: Math.max(seen.current.last, timeline.last), outgoing: outgoing.length };
    if (isOwnNew || stick.current) {
      toEnd();
      setFresh(0);
      read();
    } else if (fromOthers > 0) {
      setFresh((count) => count + fromOthers);
    }
  }, [entries, outgoing.length, typing === undefined]);

  // A longer top must not move what is read.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || keep.current === undefined) return;
    element.scrollTop = element.scrollHeight - keep.current;
    keep.current = undefined;
  }, [visible.length, entries]);

  // Whatever changes height (a picture, the composer, the window) keeps the end in sight.
  useEffect(() => {
    const element = scroller.current;
    const inside = content.current;
    if (element === null || inside === null) return;
    const sizes = new ResizeObserver(() => {
      if (opened.current && stick.current) element.scrollTop = element.scrollHeight;
    });
    sizes.observe(element);
    sizes.observe(inside);
    const onVisible = () => read();
    document.addEventListener("visibilitychange", onVisible);
    addEventListener("focus", onVisible);
    return () => {
      sizes.disconnect();
      document.removeEventListener("visibilitychange", onVisible);
      removeEventListener("focus", onVisible);
      if (workspace.chats.reading.peek() === chatId) workspace.chats.reading.value = undefined;
    };
  }, []);

  useEffect(() => {
    const top = sentinel.current;
    const element = scroller.current;
    if (top === null || element === null || !isCut || !isReady) return;
    const observer = new IntersectionObserver(
      (changes) => {
        if (!opened.current || !changes.some((change) => change.isIntersecting)) return;
        keep.current = element.scrollHeight - element.scrollTop;
        if (visible.length < items.length) setShown(shown + WINDOW);
        else
          void timeline.loadOlder().then(
            () => setShown((count) => count + WINDOW),
            () => (keep.current = undefined),
          );
      },
      { root: element, rootMargin: "600px 0px 0px" },
    );
    observer.observe(top);
    return () => observer.disconnect();
  }, [isCut, isReady, visible.length, items.length]);

  const onScroll = () => {
    const element = scroller.current;
    if (element === null || !opened.current) return;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < END_PX;
    if (atEnd !== stick.current) {
      stick.current = atEnd;
      setAtEnd(atEnd);
      if (atEnd) setFresh(0);
    }
    read();
  };

  return (
    <div class="log-frame">
      <div ref={scroller} class="log scroll" role="region" aria-label="Messages" tabIndex={0} onScroll={onScroll}>
        <div ref={content} class="inner">
          {!isReady && entries.length === 0 && outgoing.length === 0 ? (
            <Skeletons />
          ) : (
            <>
              <div ref={sentinel} class="top">
                {timeline.isLoadingOlder.value && <span class="appear-late">Loading…</span>}
              </div>
              <span class="grow" />
              {visitor?.invite && !isCut && (
                <p class="event">
                  <span dir="auto">
                    <b>Invited</b> with “{visitor.invite}”
                  </span>
                </p>
              )}
              {visible.map((item) => (
                <ItemView key={item.key} item={item} chatId={chatId} name={name} photo={visitor?.photo} />
              ))}
              {items.length === 0 && !visitor?.invite && <p class="event">No messages yet</p>}
              {typing !== undefined && (
                <p class="typing">
                  <span class="dot" />
                  <span class="dot" />
                  <span class="dot" />
                  <span class="clip">
                    {name.split(" ")[0]} is typing{typing.text ? ": " : "…"}
                  </span>
                  {typing.text && <q dir="auto">{typing.text}</q>}
                </p>
              )}
            </>
          )}
        </div>
      </div>
      {isReady && !isAtEnd && (
        <div class="news">
          <button type="button" class={fresh > 0 ? "fresh" : undefined} onClick={toEnd}>
            <Icon name="arrow-down" />
            {fresh > 0 ? `${fresh} new ${fresh === 1 ? "message" : "messages"}` : "Latest"}
          </button>
        </div>
      )}
    </div>
  );
}

function ItemView({
  item,
  chatId,
  name,
  photo,
}: {
  item: Item;
  chatId: number;
  name: string;
  photo: string | null | undefined;
}) {
  const { me } = useWorkspace();
  switch (item.kind) {
    case "day":
      return (
        <h3 class="event day">
          <span>{dayLabel(item.at, minute.value)}</span>
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
          <span>{describe(item.entries, me.id)}</span>
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
