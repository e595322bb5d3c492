import "./command-palette.css";
import type { ComponentChild } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { Avatar } from "../../ui/avatar";
import { Icon, type IconName } from "../../ui/icons";
import { handleListKey } from "../../ui/list-keys";
import { theme } from "../../ui/theme";
import { acceptChat, acceptNext, requestClose } from "../chat-actions";
import { useWorkspace } from "../workspace-context";
import { setBlacklisted } from "../conversation/conversation";
import { filterRows } from "../inbox/inbox";
import { SECTION_LABELS } from "../navigation-rail";
import { isSoundEnabled } from "../state/preferences";
import { navigate, openChat, SECTIONS } from "../state/route";
import { TABS } from "../state/chats";
import { focusComposer, closeOverlay, overlay, activeTab } from "../state/view-state";
import { isAnonymous, visitorName, type Workspace } from "../state/workspace";
import type { ChatRow } from "../../api/types";

interface Command {
  id: string;
  group: "This chat" | "Chats" | "Actions" | "Go to";
  name: string;
  /** Additional search words that find this command, although its name does not contain them. */
  keywords?: string;
  image: ComponentChild;
  hint?: string;
  shortcut?: string;
  run: () => void;
}

const MAX_LISTED_CHATS = 8;
const STATE_LABELS: Record<ChatRow["state"], string> = {
  waiting: "waiting",
  active: "active",
  bot: "bot",
  closed: "closed",
};

function chatCommand(row: ChatRow): Command {
  return {
    id: `chat-${row.chat_id}`,
    group: "Chats",
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

const icon = (name: IconName) => <Icon name={name} />;

function buildCommands(workspace: Workspace): Command[] {
  const commands: Command[] = [];
  const id = workspace.openChatId.value;
  const row = id === undefined ? undefined : workspace.header(id);
  const add = (
    group: Command["group"],
    name: string,
    iconName: IconName,
    run: () => void,
    more: Partial<Command> = {},
  ) => commands.push({ id: `${group}-${name}`, group, name, image: icon(iconName), run, ...more });
  if (row !== undefined) {
    const chatId = row.chat_id;
    const isMine = workspace.chats.isMine(row);
    if (row.state === "waiting" || row.state === "bot")
      add(
        "This chat",
        row.state === "bot" ? "Take over from the bot" : "Accept",
        "check",
        () => acceptChat(workspace, chatId),
        { shortcut: "A" },
      );
    if (isMine)
      add("This chat", "Reply", "message-square", () => focusComposer(chatId), {
        shortcut: "R",
        keywords: "write answer",
      });
    if (isMine)
      add("This chat", "Send a link to a file", "paperclip", () => (overlay.value = { kind: "file", chatId }), {
        keywords: "photo video document attach",
      });
    add("This chat", "Add a private note", "sticky-note", () => focusComposer(chatId, "note"), { shortcut: "N" });
    if (row.state === "active" && (isMine || workspace.isAdmin))
      add("This chat", "Transfer…", "arrow-right-left", () => (overlay.value = { kind: "transfer", chatId }), {
        shortcut: "T",
        keywords: "assign agent department hand over",
      });
    if (row.state !== "closed" && (isMine || row.state !== "active" || workspace.isAdmin))
      add("This chat", "Close", "x", () => requestClose(workspace, chatId), { shortcut: "E", keywords: "end finish" });
    const visitor = workspace.timelines.peek(chatId)?.chatDetails.value?.visitor;
    if (visitor !== undefined) {
      add(
        "This chat",
        visitor.blacklisted ? "Remove from the blacklist" : "Blacklist the visitor",
        "ban",
        () => void setBlacklisted(workspace, chatId, visitor.number, !visitor.blacklisted),
        { keywords: "block ban spam" },
      );
      if (workspace.isAdmin)
        add(
          "This chat",
          "Erase the visitor…",
          "trash-2",
          () => (overlay.value = { kind: "erase", chatId, number: visitor.number, name: visitorName(row) }),
          { keywords: "delete gdpr" },
        );
    }
  }
  if (workspace.chats.waiting.value.length > 0 && row?.state !== "waiting")
    add("Actions", "Accept the longest-waiting chat", "check", () => acceptNext(workspace), { shortcut: "A" });
  const isOnline = workspace.presence.value === "online";
  add(
    "Actions",
    isOnline ? "Set status to away" : "Set status to online",
    "user-round",
    () => void workspace.setPresence(isOnline ? "away" : "online"),
    { keywords: "presence status pause" },
  );
  const themes = { light: "sun", dark: "moon", system: "monitor" } as const;
  for (const name of ["light", "dark", "system"] as const) {
    if (theme.value !== name)
      add(
        "Actions",
        name === "system" ? "System theme" : `${name === "dark" ? "Dark" : "Light"} theme`,
        themes[name],
        () => (theme.value = name),
        { keywords: "appearance colours" },
      );
  }
  add(
    "Actions",
    isSoundEnabled.value ? "Sound off" : "Sound on",
    isSoundEnabled.value ? "volume-x" : "volume-2",
    () => (isSoundEnabled.value = !isSoundEnabled.value),
    { keywords: "mute" },
  );
  if (workspace.isAdmin && workspace.cannedReplies.value !== null)
    add("Actions", "Manage canned replies", "square-slash", () => (overlay.value = { kind: "canned" }), {
      keywords: "templates shortcuts",
    });
  if (workspace.isAdmin)
    add("Actions", "Add a channel", "plug", () => (overlay.value = { kind: "channel" }), { keywords: "connect api" });
  add("Actions", "Keyboard shortcuts", "keyboard", () => (overlay.value = { kind: "shortcuts" }), {
    shortcut: "?",
    keywords: "keys help",
  });
  add("Actions", "Sign out", "log-out", () => (overlay.value = { kind: "sign-out" }), { keywords: "log out leave" });
  const tabNames = {
    waiting: "Waiting chats",
    mine: "My chats",
    bot: "Chats with a bot",
    all: "All open chats",
    closed: "Closed chats",
  };
  for (const name of TABS)
    add("Go to", tabNames[name], "inbox", () => ((activeTab.value = name), openChat(undefined)), {
      keywords: "inbox list",
    });
  for (const section of SECTIONS) {
    const { name, icon: iconName } = SECTION_LABELS[section];
    if (section !== "inbox") add("Go to", name, iconName, () => navigate({ section, id: undefined }));
  }
  return commands;
}

export function CommandPalette() {
  const workspace = useWorkspace();
  const [searchText, setSearchText] = useState("");
  const [selected, setSelected] = useState(0);
  const [remote, setRemote] = useState<readonly ChatRow[]>([]);
  const searchTerm = searchText.trim().toLowerCase();

  useEffect(() => {
    setRemote([]);
    if (searchTerm.length < 2) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      void workspace.api.get("/agent/search", { query: { q: searchTerm } }).then(
        ({ chats }) => isCurrent && setRemote(chats),
        () => {},
      );
    }, 200);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [searchTerm]);

  const commands = useMemo(() => buildCommands(workspace), []);
  const { chats } = workspace;
  const list = useMemo(() => {
    const local =
      searchTerm === ""
        ? [...chats.waiting.value, ...chats.mine.value].slice(0, MAX_LISTED_CHATS)
        : filterRows(chats.rows.value.values(), searchTerm).slice(0, MAX_LISTED_CHATS);
    const ids = new Set(local.map((row) => row.chat_id));
    const rows = [...local, ...remote.filter((row) => !ids.has(row.chat_id))]
      .slice(0, MAX_LISTED_CHATS)
      .map(chatCommand);
    const matching = commands.filter(({ name, keywords, group }) => {
      const text = `${name} ${keywords ?? ""} ${group}`.toLowerCase();
      return searchTerm.split(/\s+/).every((word) => text.includes(word));
    });
    const currentChatCommands = matching.filter(({ group }) => group === "This chat");
    const otherCommands = matching.filter(({ group }) => group !== "This chat");
    return searchTerm === ""
      ? [...currentChatCommands, ...rows, ...otherCommands]
      : [...rows.slice(0, 5), ...currentChatCommands, ...otherCommands];
  }, [searchTerm, remote, chats.rows.value]);
  const selectedIndex = Math.min(selected, Math.max(0, list.length - 1));

  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    closeOverlay();
    command.run();
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
    <Dialog title="Find a chat or an action" hidesHeader class="palette" onClose={closeOverlay}>
      <div class="ask">
        <Icon name="search" />
        <input
          data-autofocus
          role="combobox"
          aria-expanded={true}
          aria-controls="commands"
          aria-activedescendant={list.length > 0 ? `command-${selectedIndex}` : undefined}
          aria-label="Find a chat or an action"
          placeholder="Find a chat or an action"
          autocomplete="off"
          spellcheck={false}
          value={searchText}
          onInput={(event) => {
            setSearchText(event.currentTarget.value);
            setSelected(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      {list.length === 0 ? (
        <p class="none">Nothing found.</p>
      ) : (
        <ul id="commands" class="scroll" role="listbox" aria-label="Chats and actions">
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
