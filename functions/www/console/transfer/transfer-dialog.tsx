import "./transfer-dialog.css";
import { useEffect, useMemo, useState } from "preact/hooks";
import { hasStatus } from "../../api/client";
import type { PresenceStatus } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { Avatar } from "../../ui/avatar";
import { Icon } from "../../ui/icons";
import { handleListKey } from "../../ui/list-keys";
import { toast } from "../../ui/toast";
import { useMounted } from "../../ui/use-mounted";
import { compareNames } from "../../ui/words";
import { MAX_TEXT_CHARACTERS } from "../conversation/composer-text";
import { changeSelected } from "../chat-actions";
import { useWorkspace } from "../workspace-context";
import { openChat, route } from "../state/page/route";
import { closeOverlay } from "../state/list/view-state";
import { errorText } from "../state/page/error-text";
import type { People } from "../state/agent/roster";
import { visitorName } from "../state/list/chats";
import { plural, t } from "../../texts/translate";

type TransferTarget =
  | { kind: "agent"; id: number; name: string; photo: string | null; status: PresenceStatus }
  | { kind: "department"; id: number; name: string }
  | { kind: "bot"; id: string; name: string };

const STATUS_ORDER: Record<PresenceStatus, number> = { online: 0, away: 1, offline: 2 };
const STATUS_LABELS: Record<PresenceStatus, string> = { online: t`Online`, away: t`Away`, offline: t`Offline` };

/** Returns whom a chat can be given to. Agents who are online come first. `owner` is the agent who has the chat. */
function targetsIn(people: People, searchTerm: string, owner: number | undefined): TransferTarget[] {
  const matches = ({ name }: { name: string }) => name.toLowerCase().includes(searchTerm);
  const agents = people.agents
    .filter((agent) => agent.id !== owner && matches(agent))
    .map((agent) => ({ kind: "agent" as const, ...agent }))
    .sort((a, b) => STATUS_ORDER[a.status] - STATUS_ORDER[b.status] || compareNames(a, b));
  const departments = people.departments
    .filter(matches)
    .map((department) => ({ kind: "department" as const, ...department }));
  const bots = (people.bots ?? [])
    .filter(matches)
    .map(({ bot_id, name }) => ({ kind: "bot" as const, id: bot_id, name }))
    .sort(compareNames);
  return [...agents, ...departments, ...bots];
}

/** Returns the target as the request contains it. */
const targetOf = (target: TransferTarget) =>
  target.kind === "agent"
    ? { agent_id: target.id }
    : target.kind === "department"
      ? { department_id: target.id }
      : { bot_id: target.id };

/** Transfers one chat, or all of several ones to the same recipient. */
export function TransferDialog({ chatIds }: { chatIds: readonly number[] }) {
  const workspace = useWorkspace();
  const [chatId] = chatIds.length === 1 ? chatIds : [];
  const row = chatId === undefined ? undefined : workspace.chats.row(chatId);
  const people = workspace.roster.people.value;
  const [searchText, setSearchText] = useState("");
  const [note, setNote] = useState("");
  const [selected, setSelected] = useState(0);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isOpen = useMounted();

  // Load the list again, because agents' presence may have changed since it was last loaded.
  useEffect(() => {
    workspace.roster.loadWithBots().catch((error: unknown) => {
      if (workspace.roster.people.peek() === undefined) setProblem(errorText(error));
    });
  }, []);

  const targets = useMemo(
    () => (people === undefined ? [] : targetsIn(people, searchText.trim().toLowerCase(), row?.agent?.id)),
    [people, searchText, row],
  );
  const selectedIndex = Math.min(selected, Math.max(0, targets.length - 1));

  const transfer = async (target: TransferTarget | undefined) => {
    if (target === undefined || isBusy) return;
    if (chatId === undefined) {
      closeOverlay();
      void changeSelected(workspace, t`Transferring to ${target.name}`, chatIds, (id) =>
        workspace.ownership.transfer(id, targetOf(target), note.trim()),
      );
      return;
    }
    setBusy(true);
    setProblem(undefined);
    try {
      await workspace.ownership.transfer(chatId, targetOf(target), note.trim());
      // Do not close another dialog that the agent may have opened after closing this one.
      if (isOpen.current) closeOverlay();
      toast(
        row === undefined
          ? t`The chat is with ${target.name} now.`
          : t`${visitorName(row)} is with ${target.name} now.`,
      );
      if (route.peek().id === chatId && matchMedia("(max-width: 719px)").matches) openChat(undefined, true);
    } catch (error) {
      if (!isOpen.current) toast(t`The chat was not transferred. ${errorText(error)}`, { isBad: true });
      setBusy(false);
      setProblem(errorText(error));
      if (hasStatus(error, 409)) workspace.roster.refresh();
    }
  };

  const title =
    chatId === undefined
      ? plural(chatIds.length, "Transfer {count} chats", "Transfer {count} chats")
      : row === undefined
        ? t`Transfer the chat`
        : t`Transfer ${visitorName(row)}`;
  const onKeyDown = (event: KeyboardEvent) =>
    handleListKey(event, {
      selectedIndex,
      count: targets.length,
      optionIdPrefix: "target",
      onSelect: setSelected,
      onChoose: () => void transfer(targets[selectedIndex]),
    });

  return (
    <Dialog title={title} onClose={closeOverlay}>
      <div class="body">
        <input
          class="input"
          data-autofocus
          role="combobox"
          aria-expanded={true}
          aria-controls="targets"
          aria-activedescendant={targets.length > 0 ? `target-${selectedIndex}` : undefined}
          aria-label={t`To which agent, department or bot`}
          placeholder={t`Agent, department or bot`}
          autocomplete="off"
          value={searchText}
          onInput={(event) => {
            setSearchText(event.currentTarget.value);
            setSelected(0);
          }}
          onKeyDown={onKeyDown}
        />
        <textarea
          class="input"
          rows={2}
          dir="auto"
          maxLength={MAX_TEXT_CHARACTERS}
          aria-label={t`Private note to colleagues`}
          placeholder={t`Private note to colleagues (optional)`}
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey) onKeyDown(event);
          }}
        />
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            <Icon name="circle-alert" />
            <span>{problem}</span>
          </p>
        )}
        {people === undefined ? (
          problem === undefined && <p class="appear-late">{t`Loading…`}</p>
        ) : (
          <TargetList
            targets={targets}
            selectedIndex={selectedIndex}
            isBusy={isBusy}
            isSearch={searchText !== ""}
            onSelect={setSelected}
            onChoose={(target) => void transfer(target)}
          />
        )}
      </div>
    </Dialog>
  );
}

interface TargetListProps {
  targets: readonly TransferTarget[];
  selectedIndex: number;
  isBusy: boolean;
  /** Whether the agent has typed something. */
  isSearch: boolean;
  onSelect: (index: number) => void;
  onChoose: (target: TransferTarget) => void;
}

function TargetList({ targets, selectedIndex, isBusy, isSearch, onSelect, onChoose }: TargetListProps) {
  const firstDepartment = targets.findIndex((target) => target.kind === "department");
  const firstBot = targets.findIndex((target) => target.kind === "bot");
  return (
    <ul
      id="targets"
      class="picker-list scroll"
      role="listbox"
      aria-label={t`Agents, departments and bots`}
      aria-busy={isBusy}
    >
      {targets.map((target, index) => [
        index === 0 && target.kind === "agent" && (
          <li key="agents" class="head" role="presentation">
            {t`Agents`}
          </li>
        ),
        index === firstDepartment && (
          <li key="departments" class="head" role="presentation">
            {t`Departments`}
          </li>
        ),
        index === firstBot && (
          <li key="bots" class="head" role="presentation">
            {t`Bots`}
          </li>
        ),
        <li
          key={`${target.kind}${target.id}`}
          id={`target-${index}`}
          role="option"
          aria-selected={index === selectedIndex}
          onMouseMove={() => onSelect(index)}
          onClick={() => onChoose(target)}
        >
          {target.kind === "agent" ? (
            <Avatar id={target.id} name={target.name} photo={target.photo} />
          ) : target.kind === "bot" ? (
            <Avatar id={0} name={target.name} isBot />
          ) : (
            <span class="icon-round">
              <Icon name="building-2" />
            </span>
          )}
          <span class="clip" dir="auto">
            {target.name}
          </span>
          {target.kind === "agent" && (
            <span class="state">
              <span class={`presence ${target.status}`} />
              {STATUS_LABELS[target.status]}
            </span>
          )}
        </li>,
      ])}
      {targets.length === 0 && (
        <li class="head" role="presentation">
          {isSearch ? t`Nobody found.` : t`This account has no other agents.`}
        </li>
      )}
    </ul>
  );
}
