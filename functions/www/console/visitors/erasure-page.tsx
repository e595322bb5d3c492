/* The page on which an admin erases a visitor: what is deleted, a question, and the progress. */

import { useState } from "preact/hooks";
import { hasStatus } from "../../api/client";
import type { ChatRow, VisitorData } from "../../api/types";
import { announce } from "../../ui/announcer";
import { Icon } from "../../ui/icons";
import { TableHead } from "../../ui/table-head";
import { dayLabel } from "../../ui/time";
import { toast } from "../../ui/toast";
import { useMounted } from "../../ui/use-mounted";
import { confirmsName } from "../../ui/confirm-name";
import { DetailHeader, FormProblem, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { EmptyList } from "../admin/list-page";
import { useUnloadWarning } from "../admin/use-leave-guard";
import { useLoaded } from "../admin/use-loaded";
import { VISITORS_ROUTE } from "../state/page/page-routes";
import { chatHref, hrefOf } from "../state/page/route";
import { errorText } from "../state/page/error-text";
import { isAnonymous } from "../state/list/chats";
import { useWorkspace } from "../workspace-context";
import { listText } from "../../ui/words";
import { plural, rich, t } from "../../texts/translate";

const LIST = { name: t`All visitors`, route: VISITORS_ROUTE };

interface ErasureSubject {
  data: VisitorData;
  /** The newest chats. */
  chats: readonly ChatRow[];
}

export function ErasurePage({ number }: { number: number }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(async (): Promise<ErasureSubject | "missing"> => {
    try {
      const data = await api.get("/admin/visitors/{number}", { path: { number } });
      if (data.chats_count === 0) return { data, chats: [] };
      const { chats } = await api.get("/agent/visitors/{number}/chats", { path: { number } });
      return { data, chats };
    } catch (error) {
      if (hasStatus(error, 404)) return "missing";
      throw error;
    }
  });
  return (
    <DetailPage loaded={loaded} what={t`The visitor`} list={LIST}>
      {(subject) =>
        subject === "missing" ? <MissingVisitor number={number} /> : <ErasureForm number={number} {...subject} />
      }
    </DetailPage>
  );
}

const MissingVisitor = ({ number }: { number: number }) => (
  <div class="detail-page">
    <DetailHeader name={t`Visitor ${number}`} list={LIST} />
    <EmptyList
      icon="user-round"
      title={t`There is no visitor ${number}`}
      text={t`The number is wrong, or the visitor has been erased.`}
    />
  </div>
);

interface Progress {
  chats: number;
  entries: number;
}

function ErasureForm({ number, data, chats }: { number: number } & ErasureSubject) {
  const workspace = useWorkspace();
  const { visitor } = data;
  const name = isAnonymous(visitor.name) ? t`Visitor ${number}` : visitor.name;
  const [typedName, setTypedName] = useState("");
  const [progress, setProgress] = useState<Progress>();
  const [state, setState] = useState<"question" | "running" | "done">("question");
  const [problem, setProblem] = useState<string>();
  const canErase = confirmsName(typedName, name) && state === "question";
  useUnloadWarning(state === "running");
  // If the admin leaves this page, the erasure continues, and a toast reports its end.
  const isOpen = useMounted();

  const erase = async (event: Event) => {
    event.preventDefault();
    if (!canErase) return;
    setState("running");
    setProblem(undefined);
    const before = progress ?? { chats: 0, entries: 0 };
    try {
      await workspace.visitors.erase(visitor, ({ chats, entries }) =>
        setProgress({ chats: before.chats + chats, entries: before.entries + entries }),
      );
      setState("done");
      if (isOpen.current) announce(t`The visitor is erased`);
      else toast(t`${name} is erased.`);
    } catch (error) {
      if (!isOpen.current) toast(t`${name} is not completely erased. ${errorText(error)}`, { isBad: true });
      setProblem(errorText(error));
      setState("question");
    }
  };
  if (state === "done") return <Erased name={name} progress={progress ?? { chats: 0, entries: 0 }} />;
  return (
    <div class="detail-page">
      <DetailHeader name={t`Erase ${name}`} list={LIST} />
      <div class="detail-settings scroll">
        <ErasedData number={number} data={data} />
        {data.chats_count > 0 && <ChatList chats={chats} total={data.chats_count} />}
        <form onSubmit={(event) => void erase(event)}>
          <FormSection title={t`Erase permanently`}>
            <p>
              {t`This cannot be undone. Data that was delivered to your own systems is not deleted there. If the visitor writes again, even during the erasure, they are a new visitor.`}
            </p>
            <div class="field">
              <label for="erase-name">{rich`Type ${(<b dir="auto">{name}</b>)} to confirm`}</label>
              <input
                id="erase-name"
                class="input"
                autocomplete="off"
                spellcheck={false}
                dir="auto"
                readOnly={state === "running"}
                value={typedName}
                onInput={(event) => setTypedName(event.currentTarget.value)}
              />
            </div>
            {progress !== undefined && <ErasureProgress progress={progress} total={data.chats_count} />}
            <FormProblem text={problem} />
            <div>
              <button type="submit" class="btn danger" aria-disabled={!canErase}>
                <Icon name="trash-2" />
                {state === "running" ? t`Erasing…` : progress === undefined ? t`Erase permanently` : t`Continue`}
              </button>
            </div>
          </FormSection>
        </form>
      </div>
    </div>
  );
}

function ErasureProgress({ progress, total }: { progress: Progress; total: number }) {
  return (
    <div class="task-progress" role="status">
      <progress aria-label={t`Progress`} max={Math.max(total, progress.chats, 1)} value={progress.chats} />
      <p>
        {plural(total, "{done} of {count} chat, {entries} entries", "{done} of {count} chats, {entries} entries", {
          done: progress.chats,
          entries: progress.entries,
        })}
      </p>
    </div>
  );
}

function ErasedData({ number, data }: { number: number; data: VisitorData }) {
  const { visitor } = data;
  const { merged_with: mergedWith = [] } = visitor;
  const isMerged = mergedWith.length > 0;
  const numbers = numbersText([number, ...mergedWith]);
  const chatsText = erasedChatsText(data.chats_count);
  const entriesText = erasedEntriesText(data.entries, data.is_complete);
  const fields = [
    [t`Name`, isAnonymous(visitor.name) ? null : visitor.name],
    [t`E-mail`, visitor.email],
    [t`Phone`, visitor.phone],
    [t`About`, visitor.description],
    [t`Id in your system`, String(visitor.id)],
  ] as const;
  return (
    <FormSection title={t`What is deleted`}>
      <dl class="facts">
        {fields.map(
          ([label, value]) =>
            value !== null &&
            value !== "" && [
              <dt key={label}>{label}</dt>,
              <dd key={`${label}-value`} dir="auto">
                {value}
              </dd>,
            ],
        )}
      </dl>
      <ul class="bullets">
        <li>
          {isMerged
            ? t`${chatsText} of visitors ${numbers}, with ${entriesText}: every message, note and event`
            : t`${chatsText} of visitor ${number}, with ${entriesText}: every message, note and event`}
        </li>
        {isMerged && <li>{mergedVisitorsText(mergedWith)}</li>}
        <li>{t`the CRM card, custom data, pages and browser sessions`}</li>
        <li>{t`all deliveries with their attempts, also those that are pending`}</li>
        {visitor.blacklisted && <li>{t`the blacklist entry`}</li>}
      </ul>
    </FormSection>
  );
}

const numbersText = (numbers: readonly number[]) => listText(numbers.map(String));

const mergedVisitorsText = (numbers: readonly number[]) =>
  plural(
    numbers.length,
    "visitor {numbers} as well, who is merged with this one",
    "visitors {numbers} as well, who are merged with this one",
    { numbers: numbersText(numbers) },
  );

const erasedChatsText = (count: number) =>
  count === 0 ? t`no chats` : plural(count, "{count} chat", "all {count} chats");

const erasedEntriesText = (count: number, isComplete: boolean) =>
  isComplete
    ? plural(count, "{count} entry", "{count} entries")
    : plural(count, "at least {count} entry", "at least {count} entries");

const STATE_NAMES: Record<ChatRow["state"], string> = {
  waiting: t`waiting`,
  active: t`with an agent`,
  bot: t`with a bot`,
  closed: t`closed`,
};

function ChatList({ chats, total }: { chats: readonly ChatRow[]; total: number }) {
  const now = Math.floor(Date.now() / 1000);
  const openCount = chats.filter(({ state }) => state !== "closed").length;
  return (
    <FormSection title={t`Chats`}>
      {openCount > 0 && (
        <p class="notice">
          <Icon name="triangle-alert" />
          {openCount === 1
            ? t`One chat is still open.`
            : plural(openCount, "{count} chat is still open.", "{count} chats are still open.")}
        </p>
      )}
      <table class="plain-table">
        <TableHead columns={[t`Chat`, t`Channel`, t`State`, [t`Last active`, "end"]]} />
        <tbody>
          {chats.map(({ chat_id, channel, state, updated_at }) => (
            <tr key={chat_id}>
              <td>
                <a class="link" href={chatHref(chat_id)}>
                  #{chat_id}
                </a>
              </td>
              <td dir="auto">{channel.name}</td>
              <td>{STATE_NAMES[state]}</td>
              <td class="end">{dayLabel(updated_at, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > chats.length && (
        <p class="quiet-text">
          {plural(
            total - chats.length,
            "{count} earlier chats are not listed.",
            "{count} earlier chats are not listed.",
          )}
        </p>
      )}
    </FormSection>
  );
}

function Erased({ name, progress }: { name: string; progress: Progress }) {
  return (
    <div class="detail-page">
      <DetailHeader name={t`${name} is erased`} list={LIST} />
      <div class="blank">
        <Icon name="circle-check" />
        <h2>{t`${name} is erased`}</h2>
        <p>
          {plural(progress.chats, "{count} chat with {entries} entries", "{count} chats with {entries} entries", {
            entries: progress.entries,
          })}
        </p>
        <a class="btn line" href={hrefOf(LIST.route)}>
          {t`All visitors`}
        </a>
      </div>
    </div>
  );
}
