/* The page on which an admin erases a visitor: what is deleted, a question, and the progress. */

import { useState } from "preact/hooks";
import type { ChatRow, Visitor } from "../../api/types";
import { announce } from "../../ui/announcer";
import { Icon } from "../../ui/icons";
import { TableHead } from "../../ui/table-head";
import { Facts } from "../../ui/facts";
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
import { isAnonymous, visitorName } from "../state/list/chats";
import { useWorkspace } from "../workspace-context";
import { readErasureSubject, type ErasureSubject } from "./erasure-subject";
import { numbersText } from "../../ui/words";
import { plural, rich, t } from "../../texts/translate";

const LIST = { name: t`All visitors`, route: VISITORS_ROUTE };

export function ErasurePage({ number }: { number: number }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(async () => (await readErasureSubject(api, number)) ?? "missing");
  return (
    <DetailPage loaded={loaded} what={t`The visitor`} list={LIST}>
      {(subject) => (subject === "missing" ? <MissingVisitor number={number} /> : <ErasureForm subject={subject} />)}
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

function ErasureForm({ subject }: { subject: ErasureSubject }) {
  const workspace = useWorkspace();
  const { visitor, merged, chatsCount } = subject;
  const name = visitorName({ visitor });
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
      const mergedNumbers = merged.map(({ number }) => number);
      await workspace.visitors.erase(visitor.number, mergedNumbers, ({ chats, entries }) =>
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
        <ErasedData subject={subject} />
        {chatsCount > 0 && <ChatList chats={subject.chats} total={chatsCount} />}
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
            {progress !== undefined && <ErasureProgress progress={progress} total={chatsCount} />}
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

function ErasedData({ subject: { visitor, merged, ...size } }: { subject: ErasureSubject }) {
  const all = [visitor, ...merged];
  const mergedNumbers = merged.map(({ number }) => number);
  const isMerged = merged.length > 0;
  const chatsText = erasedChatsText(size.chatsCount);
  const entriesText = erasedEntriesText(size.entries, size.isComplete);
  return (
    <FormSection title={t`What is deleted`}>
      {all.map((erased) => (
        <ErasedProfile key={erased.number} visitor={erased} showsNumber={isMerged} />
      ))}
      <ul class="bullets">
        <li>
          {isMerged
            ? t`${chatsText} of visitors ${numbersText([visitor.number, ...mergedNumbers])}, with ${entriesText}: every message, note and event`
            : t`${chatsText} of visitor ${visitor.number}, with ${entriesText}: every message, note and event`}
        </li>
        {isMerged && <li>{mergedVisitorsText(mergedNumbers)}</li>}
        <li>{t`the CRM card, custom data, pages and browser sessions`}</li>
        <li>{t`all deliveries with their attempts, also those that are pending`}</li>
        {all.some(({ blacklisted }) => blacklisted) && <li>{t`the blacklist entry`}</li>}
      </ul>
    </FormSection>
  );
}

function ErasedProfile({ visitor, showsNumber }: { visitor: Visitor; showsNumber: boolean }) {
  const fields = [
    [t`Name`, isAnonymous(visitor.name) ? null : visitor.name],
    [t`Number`, showsNumber ? String(visitor.number) : null],
    [t`E-mail`, visitor.email],
    [t`Phone`, visitor.phone],
    [t`About`, visitor.description],
    [t`Id in your system`, String(visitor.id)],
  ] as const;
  return <Facts facts={fields} />;
}

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
