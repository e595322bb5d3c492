/* Shows the open chat's messages. */

import { useMemo, useRef } from "preact/hooks";
import { Icon } from "../../ui/icons";
import { dayLabel, currentMinute } from "../../ui/time";
import { useWorkspace } from "../workspace-context";
import { describeEvents } from "./event-text";
import { groupTimeline, type TimelineItem } from "./timeline-grouping";
import { loadedPhoto } from "../visitor/visitor-photo";
import { TurnView } from "./message-turn";
import { useLogScroll } from "./use-log-scroll";
import { plural, rich, t } from "../../texts/translate";

export function MessageLog({ chatId, name }: { chatId: number; name: string }) {
  const workspace = useWorkspace();
  const timeline = workspace.timelines.open(chatId);
  const entries = timeline.entries.value;
  const isReady = timeline.loadState.value === "ready";
  const outgoing = workspace.outbox.items.value.filter((item) => item.chatId === chatId);
  const visitor = timeline.chatDetails.value?.visitor;

  /** The read position when the chat was opened. It does not change, so that the unread line stays in place. */
  const initialReadMark = useRef<{ upTo: number | undefined }>(undefined);
  if (isReady) initialReadMark.current ??= { upTo: workspace.reading.readPosition(chatId) };
  const readMark = initialReadMark.current?.upTo;

  const items = useMemo(
    () =>
      groupTimeline({ entries, outgoing, me: workspace.me, readUpTo: readMark, keys: workspace.sentMessages.itemKeys }),
    [entries, outgoing.length, outgoing, readMark],
  );
  const { container, content, top, end, visibleItems, hasMoreAbove } = useLogScroll({
    chatId,
    timeline,
    entries,
    outgoing,
    items,
    isReady,
    readMark,
  });

  return (
    <div class="log-frame">
      <div
        ref={container}
        class="log scroll"
        role="region"
        aria-label={t`Messages`}
        tabIndex={0}
        onScroll={end.onScroll}
      >
        <div ref={content} class="inner">
          {!isReady && entries.length === 0 && outgoing.length === 0 ? (
            <Skeletons />
          ) : (
            <>
              <div ref={top} class="top">
                {timeline.isLoadingOlder.value && <span class="appear-late">{t`Loading…`}</span>}
              </div>
              <span class="grow" />
              {visitor?.invite && !hasMoreAbove && (
                <p class="event">
                  <span dir="auto">{rich`${(<b>{t`Invited`}</b>)} with “${visitor.invite}”`}</span>
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
              {items.length === 0 && !visitor?.invite && <p class="event">{t`No messages yet`}</p>}
              <TypingNotices chatId={chatId} name={name} />
            </>
          )}
        </div>
      </div>
      {isReady && !end.isShown && <EndButton newMessageCount={end.newMessageCount} onClick={end.scrollTo} />}
    </div>
  );
}

/** Scrolls to the end of the log, and says how many messages have arrived there. */
function EndButton({ newMessageCount, onClick }: { newMessageCount: number; onClick: () => void }) {
  return (
    <div class="news">
      <button type="button" class={newMessageCount > 0 ? "fresh" : undefined} onClick={onClick}>
        <Icon name="arrow-down" />
        {newMessageCount > 0 ? plural(newMessageCount, "{count} new message", "{count} new messages") : t`Latest`}
      </button>
    </div>
  );
}

function TypingNotices({ chatId, name }: { chatId: number; name: string }) {
  const { visitors, colleagues } = useWorkspace().typing;
  const visitor = visitors.notices.value.get(chatId);
  const firstName = name.split(" ")[0] ?? name;
  const colleague = colleagues.notices.value.get(chatId);
  return (
    <>
      {visitor !== undefined && (
        <p class="typing">
          <TypingDots />
          <span class="clip">{visitor.text ? `${t`${firstName} is typing`}: ` : t`${firstName} is typing…`}</span>
          {visitor.text && <q dir="auto">{visitor.text}</q>}
        </p>
      )}
      {colleague !== undefined && (
        <p class="typing">
          <TypingDots />
          <span class="clip">{t`${colleague.name} is replying…`}</span>
        </p>
      )}
    </>
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
          <span>{t`New`}</span>
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
    <div class="bubble-skeletons appear-late" aria-label={t`Loading`} role="status">
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
