import type { ComponentChild } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { Avatar } from "../../ui/avatar";
import { Icon, type IconName } from "../../ui/icons";
import { handleListKey } from "../../ui/list-keys";
import { theme } from "../../ui/theme";
import { acceptChat, acceptNext, openFilter, requestClose, setBlacklisted } from "../chat-actions";
import { useWorkspace } from "../workspace-context";
import { isSoundEnabled } from "../state/agent/preferences";
import { visibleSections } from "../sections";
import { erasureRoute, mergeRoute } from "../state/page/page-routes";
import { navigate, openChat } from "../state/page/route";
import { appendNewRows, filterRows, numberSearched } from "../state/list/chat-search";
import { showView } from "../state/list/chat-filter";
import { TABS, type Tab, isAnonymous, visitorName } from "../state/list/chats";
import { focusComposer, closeOverlay, overlay, activeTab } from "../state/list/view-state";
import type { Workspace } from "../state/workspace";
import { useChatSearch } from "../use-chat-search";
import type { ChatRow, SavedView } from "../../api/types";
import { t } from "../../texts/translate";

interface Command {
  id: string;
  group: string;
  name: string;
  /** Additional search words that match this command even if its name does not contain them. */
  keywords?: string;
  image: ComponentChild;
  hint?: string;
  shortcut?: string;
  run: () => void;
}

const MAX_LISTED_CHATS = 8;
/** With a search text, fewer chats are listed so that matching actions stay visible. */
const MAX_FOUND_CHATS = 5;
/** A shorter search text is not sent to the service, because it matches most chats. */
const MIN_SEARCH_CHARACTERS = 2;
const STATE_LABELS: Record<ChatRow["state"], string> = {
  waiting: t`waiting`,
  active: t`active`,
  bot: t`bot`,
  closed: t`closed`,
};

function chatCommand(row: ChatRow): Command {
  return {
    id: `chat-${row.chat_id}`,
    group: t`Chats`,
    name: visitorName(row),
    hint: `#${row.chat_id} · ${STATE_LABELS[row.state]}`,
    image: (
      <Avatar
        id={row.visitor.number}
        name={row.visitor.name}
        isAnonymous={isAnonymous(row.visitor.name)}
        class="small"
      />
    ),
    run: () => openChat(row.chat_id),
  };
}

/** Moves the chat with the searched number, and the chats whose visitor's name contains the search term, to the front. */
function namedFirst(rows: readonly ChatRow[], searchTerm: string): ChatRow[] {
  const rank = (row: ChatRow) =>
    String(row.chat_id) === searchTerm.replace(/^#/, "")
      ? 0
      : visitorName(row).toLowerCase().includes(searchTerm)
        ? 1
        : 2;
  return [...rows].sort((a, b) => rank(a) - rank(b));
}

/** Returns the command for a search text such as "#42" whose chat is not loaded. */
function numberCommand(searchTerm: string, rows: readonly ChatRow[]): Command[] {
  const chatId = numberSearched(searchTerm);
  if (chatId === undefined || rows.some((row) => row.chat_id === chatId)) return [];
  return [command(t`Chats`, t`Open chat #${chatId}`, "message-square", () => openChat(chatId))];
}

function command(
  group: Command["group"],
  name: string,
  iconName: IconName,
  run: () => void,
  more: Partial<Command> = {},
): Command {
  return { id: `${group}-${name}`, group, name, image: <Icon name={iconName} />, run, ...more };
}

/** The commands for the open chat. */
function openChatCommands(workspace: Workspace, row: ChatRow): Command[] {
  const chatId = row.chat_id;
  const isMine = workspace.chats.isMine(row);
  const commands: Command[] = [];
  const add = (name: string, iconName: IconName, run: () => void, more: Partial<Command>) =>
    commands.push(command(t`This chat`, name, iconName, run, more));
  if (row.state === "waiting" || row.state === "bot") {
    const name = row.state === "bot" ? t`Take over from the bot` : t`Accept`;
    add(name, "check", () => acceptChat(workspace, chatId), { shortcut: "A" });
  }
  if (isMine) {
    add(t`Reply`, "message-square", () => focusComposer(chatId), { shortcut: "R", keywords: t`write answer` });
    add(t`Send a link to a file`, "paperclip", () => (overlay.value = { kind: "file", chatId }), {
      keywords: t`photo video document attach`,
    });
  }
  if (isMine && !workspace.runningCalls.byChat.value.has(chatId))
    add(t`Call the visitor…`, "phone", () => (overlay.value = { kind: "call", chatId }), {
      shortcut: "C",
      keywords: t`phone dial ring`,
    });
  add(t`Add a private note`, "sticky-note", () => focusComposer(chatId, "note"), { shortcut: "N" });
  if (row.state === "active" && (isMine || workspace.isAdmin))
    add(t`Transfer…`, "arrow-right-left", () => (overlay.value = { kind: "transfer", chatId }), {
      shortcut: "T",
      keywords: t`assign agent department hand over`,
    });
  add(t`Tags…`, "tag", () => (overlay.value = { kind: "tags", chatId }), { shortcut: "L", keywords: t`label` });
  if (isMine)
    add(t`Snooze…`, "clock", () => (overlay.value = { kind: "snooze", chatId }), {
      shortcut: "S",
      keywords: t`later aside remind`,
    });
  if (row.state !== "closed" && (isMine || row.state !== "active" || workspace.isAdmin))
    add(t`Close`, "x", () => requestClose(workspace, chatId), { shortcut: "E", keywords: t`end finish` });
  const visitor = workspace.timelines.peek(chatId)?.chatDetails.value?.visitor;
  if (visitor === undefined) return commands;
  add(
    visitor.blacklisted ? t`Remove from the blacklist` : t`Blacklist the visitor`,
    "ban",
    () => void setBlacklisted(workspace, chatId, visitor.number, !visitor.blacklisted),
    { keywords: t`block ban spam` },
  );
  add(t`Merge the visitor…`, "users-round", () => navigate(mergeRoute(visitor.number)), {
    keywords: t`duplicate same person separate`,
  });
  if (workspace.isAdmin) {
    add(t`Export the chat…`, "download", () => (overlay.value = { kind: "export", chatId }), {
      keywords: t`save json csv file`,
    });
    add(t`Erase the visitor…`, "trash-2", () => navigate(erasureRoute(visitor.number)), { keywords: t`delete gdpr` });
  }
  return commands;
}

const THEME_COMMANDS = [
  { name: "light", label: t`Light theme`, icon: "sun" },
  { name: "dark", label: t`Dark theme`, icon: "moon" },
  { name: "system", label: t`System theme`, icon: "monitor" },
] as const;

/** The commands that do not depend on the open chat. */
function generalCommands(workspace: Workspace): Command[] {
  const commands: Command[] = [];
  const add = (name: string, iconName: IconName, run: () => void, more: Partial<Command>) =>
    commands.push(command(t`Actions`, name, iconName, run, more));
  const isOnline = workspace.presence.status.value === "online";
  add(
    isOnline ? t`Set status to away` : t`Set status to online`,
    "user-round",
    () => void workspace.presence.set(isOnline ? "away" : "online"),
    { keywords: t`presence status pause` },
  );
  for (const { name, label, icon } of THEME_COMMANDS)
    if (theme.value !== name) add(label, icon, () => (theme.value = name), { keywords: t`appearance colours` });
  add(
    isSoundEnabled.value ? t`Sound off` : t`Sound on`,
    isSoundEnabled.value ? "volume-x" : "volume-2",
    () => (isSoundEnabled.value = !isSoundEnabled.value),
    { keywords: "mute" },
  );
  if (workspace.isAdmin) {
    add(t`Manage canned replies`, "square-slash", () => (overlay.value = { kind: "canned" }), {
      keywords: t`templates shortcuts`,
    });
    add(t`Add a channel`, "plug", () => (overlay.value = { kind: "channel" }), {
      keywords: t`connect api widget website`,
    });
  }
  add(t`Filter the list`, "list-filter", openFilter, {
    shortcut: "F",
    keywords: t`unread unanswered tag channel view`,
  });
  add(t`Keyboard shortcuts`, "keyboard", () => (overlay.value = { kind: "shortcuts" }), {
    shortcut: "?",
    keywords: t`keys help`,
  });
  add(t`Sign out`, "log-out", () => (overlay.value = { kind: "sign-out" }), { keywords: t`log out leave` });
  return commands;
}

const TAB_COMMAND_NAMES: Record<Tab, string> = {
  waiting: t`Waiting chats`,
  mine: t`My chats`,
  snoozed: t`Snoozed chats`,
  bot: t`Chats with a bot`,
  all: t`All open chats`,
  closed: t`Closed chats`,
};

function openView(view: SavedView): void {
  showView(view);
  openChat(undefined);
}

function navigationCommands(workspace: Workspace): Command[] {
  const showTab = (tab: Tab) => () => {
    activeTab.value = tab;
    openChat(undefined);
  };
  const tabs = TABS.map((tab) =>
    command(t`Go to`, TAB_COMMAND_NAMES[tab], "inbox", showTab(tab), { keywords: t`inbox list` }),
  );
  const views = workspace.roster.views.value.map((view) =>
    command(t`Go to`, view.name, "list-filter", () => openView(view), { keywords: t`view inbox list filter` }),
  );
  const sections = visibleSections(workspace.isAdmin);
  const firstPages = sections
    .filter(({ name }) => name !== "inbox")
    .map(({ name, title, icon, keywords = "" }) =>
      command(t`Go to`, title, icon, () => navigate({ section: name, id: undefined }), { keywords }),
    );
  const furtherPages = sections.flatMap(({ icon: sectionIcon, furtherPages = [] }) =>
    furtherPages.map(({ title, icon = sectionIcon, route, keywords }) =>
      command(t`Go to`, title, icon, () => navigate(route), { keywords }),
    ),
  );
  return [...tabs, ...views, ...firstPages, ...furtherPages];
}

function buildCommands(workspace: Workspace): Command[] {
  const id = workspace.reading.openChatId.value;
  const row = id === undefined ? undefined : workspace.headers.peek(id);
  const commands = row === undefined ? [] : openChatCommands(workspace, row);
  if (workspace.chats.waiting.value.length > 0 && row?.state !== "waiting")
    commands.push(
      command(t`Actions`, t`Accept the longest-waiting chat`, "check", () => acceptNext(workspace), { shortcut: "A" }),
    );
  return [...commands, ...generalCommands(workspace), ...navigationCommands(workspace)];
}

export function CommandPalette() {
  const workspace = useWorkspace();
  const [searchText, setSearchText] = useState("");
  const [selected, setSelected] = useState(0);
  const searchTerm = searchText.trim().toLowerCase();
  const { rows: remote, isSearching } = useChatSearch(searchTerm.length < MIN_SEARCH_CHARACTERS ? "" : searchTerm);

  const commands = useMemo(() => buildCommands(workspace), []);
  const { chats } = workspace;
  const list = useMemo(() => {
    const local =
      searchTerm === ""
        ? [...chats.mineOnTop.value, ...chats.waiting.value, ...chats.mineBelow.value]
        : filterRows(chats.rows.value.values(), searchTerm);
    const listed = appendNewRows(local, remote);
    const found = searchTerm === "" ? listed : namedFirst(listed, searchTerm);
    const rows = [...numberCommand(searchTerm, found), ...found.slice(0, MAX_LISTED_CHATS).map(chatCommand)];
    const matching = commands.filter(({ name, keywords }) => {
      const text = `${name} ${keywords ?? ""}`.toLowerCase();
      return searchTerm.split(/\s+/).every((word) => text.includes(word));
    });
    const currentChatCommands = matching.filter(({ group }) => group === t`This chat`);
    const otherCommands = matching.filter(({ group }) => group !== t`This chat`);
    return searchTerm === ""
      ? [...currentChatCommands, ...rows, ...otherCommands]
      : [...rows.slice(0, MAX_FOUND_CHATS), ...currentChatCommands, ...otherCommands];
  }, [searchTerm, remote, chats.rows.value]);
  const selectedIndex = Math.min(selected, Math.max(0, list.length - 1));

  const run = (chosen: Command | undefined) => {
    if (chosen === undefined) return;
    closeOverlay();
    chosen.run();
  };
  const onKeyDown = (event: KeyboardEvent) =>
    handleListKey(event, {
      selectedIndex,
      count: list.length,
      optionIdPrefix: "command",
      onSelect: setSelected,
      onChoose: () => run(list[selectedIndex]),
    });
  return (
    <Dialog title={t`Find a chat or an action`} hidesHeader class="palette" onClose={closeOverlay}>
      <div class="ask">
        <Icon name="search" />
        <input
          data-autofocus
          role="combobox"
          aria-expanded={true}
          aria-controls="commands"
          aria-activedescendant={list.length > 0 ? `command-${selectedIndex}` : undefined}
          aria-label={t`Find a chat or an action`}
          placeholder={t`Find a chat or an action`}
          autocomplete="off"
          spellcheck={false}
          value={searchText}
          onInput={(event) => {
            setSearchText(event.currentTarget.value);
            setSelected(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>{t`Esc`}</kbd>
      </div>
      {list.length === 0 ? (
        <p class="none">{isSearching ? t`Searching…` : t`Nothing found.`}</p>
      ) : (
        <ul id="commands" class="scroll" role="listbox" aria-label={t`Chats and actions`}>
          {list.map((command, index) => [
            command.group !== list[index - 1]?.group && (
              <li key={`head-${command.group}`} class="head" role="presentation">
                {command.group}
              </li>
            ),
            <li
              key={command.id}
              id={`command-${index}`}
              role="option"
              aria-selected={index === selectedIndex}
              onMouseMove={() => index !== selectedIndex && setSelected(index)}
              onClick={() => run(command)}
            >
              {command.image}
              <span class="clip" dir="auto">
                {command.name}
              </span>
              {command.hint !== undefined && <small>{command.hint}</small>}
              {command.shortcut !== undefined && <kbd aria-hidden="true">{command.shortcut}</kbd>}
            </li>,
          ])}
        </ul>
      )}
    </Dialog>
  );
}
