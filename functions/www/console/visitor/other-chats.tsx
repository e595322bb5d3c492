import { useEffect, useState } from "preact/hooks";
import type { ChatRow } from "../../api/types";
import { currentMinute, shortDay } from "../../ui/time";
import { chatHref } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { t } from "../../texts/translate";

const STATE_LABELS: Record<ChatRow["state"], string> = {
  waiting: t`waiting`,
  active: t`active`,
  bot: t`bot`,
  closed: t`closed`,
};

/** Lists the other chats of the visitor and of those with whom the visitor is merged, the latest first. The channel is
 * shown for the chats of the latter. */
export function OtherChats({ chatId, number }: { chatId: number; number: number }) {
  const { api } = useWorkspace();
  const [loaded, setLoaded] = useState<{ rows: readonly ChatRow[]; next: string | null } | "failed">();
  const loadPage = async (cursor?: string) => {
    try {
      const options = { path: { number }, query: cursor === undefined ? {} : { cursor } };
      const { chats: rows, next } = await api.get("/agent/visitors/{number}/chats", options);
      setLoaded((before) => ({
        rows: [...(cursor !== undefined && typeof before === "object" ? before.rows : []), ...rows],
        next,
      }));
    } catch {
      setLoaded("failed");
    }
  };
  useEffect(() => void loadPage(), [number]);
  if (loaded === undefined) return null;
  if (loaded === "failed") {
    return (
      <section class="card" aria-label={t`Other chats`}>
        <h3>{t`Other chats`}</h3>
        <p class="outcome failed">{t`The chats cannot be loaded.`}</p>
      </section>
    );
  }
  const rows = loaded.rows.filter((row) => row.chat_id !== chatId).sort((a, b) => b.chat_id - a.chat_id);
  if (rows.length === 0 && loaded.next === null) return null;
  return (
    <section class="card" aria-label={t`Other chats`}>
      <h3>
        {t`Other chats`}{" "}
        <b>
          {rows.length}
          {loaded.next !== null ? "+" : ""}
        </b>
      </h3>
      <ul class="past">
        {rows.map((row) => (
          <li key={row.chat_id}>
            <a href={chatHref(row.chat_id)}>
              <span class="clip" dir="auto">
                {row.visitor.number !== number && `${row.channel.name}: `}
                {row.last_message?.type === "call" && `${t`Call`}: `}
                {row.last_message?.text || t`Chat #${row.chat_id}`}
              </span>
              <time>
                {row.state === "closed" ? shortDay(row.updated_at, currentMinute.value) : STATE_LABELS[row.state]}
              </time>
            </a>
          </li>
        ))}
      </ul>
      {loaded.next !== null && (
        <button type="button" class="btn wide" onClick={() => void loadPage(loaded.next ?? undefined)}>
          {t`Show more`}
        </button>
      )}
    </section>
  );
}
