/* The journal's entries. An entry opens to show the whole bodies. */

import { chatIdOf, entries, eventName, isUnreachable, replyText, summaryOf, type JournalEntry } from "./journal";
import { formatTime } from "./time";

const RECEIVER_NAMES = { integrator: "Channel", bot: "Bot", webhook: "Webhook", gateway: "Gateway" };

export function JournalView() {
  return (
    <>
      {isUnreachable.value && <p class="problem">The local host does not respond.</p>}
      {entries.value.length === 0 ? (
        <p class="note">
          Write in the shop’s chat, or ask for a call. The requests to the demo bot, the demo webhook and the demo
          gateway for phone calls appear here, with the replies.
        </p>
      ) : (
        <ol class="journal">
          {entries.value.map((entry) => (
            <Entry key={entry.number} entry={entry} />
          ))}
        </ol>
      )}
    </>
  );
}

function Entry({ entry }: { entry: JournalEntry }) {
  const { at, receiver, request, replies } = entry;
  const summary = [chatIdOf(entry), summaryOf(entry)].filter(Boolean).join(" · ");
  return (
    <li>
      <details>
        <summary>
          <time>{formatTime(at)}</time>
          <span class={`receiver ${receiver}`}>{RECEIVER_NAMES[receiver]}</span>
          <strong>{eventName(entry)}</strong>
          {summary !== "" && (
            <span class="text" dir="auto">
              {summary}
            </span>
          )}
          {replies.map((reply, index) => (
            <span key={index} class="text reply">
              {replyText(reply)}
            </span>
          ))}
        </summary>
        <Json title="Request" value={request} />
        {replies.map((reply, index) => (
          <Json key={index} title="Reply" value={reply} />
        ))}
      </details>
    </li>
  );
}

function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <>
      <h3>{title}</h3>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </>
  );
}
