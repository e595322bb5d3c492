import "./palette.css";
import type { ComponentChild } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Dialog } from "../../ui/dialog";
import { Face } from "../../ui/face";
import { Icon, type IconName } from "../../ui/icons";
import { theme } from "../../ui/theme";
import { acceptChat, acceptNext, requestClose } from "../actions";
import { useWorkspace } from "../context";
import { setBlacklisted } from "../conversation/conversation";
import { matchRows } from "../inbox/inbox";
import { SECTION_NAMES } from "../rail";
import { hasSound } from "../state/preferences";
import { go, openChat, SECTIONS } from "../state/route";
import { TABS } from "../state/chats";
import { askComposer, closeFloating, floating, tab } from "../state/view";
import { isAnonymous, nameOf, type Workspace } from "../state/workspace";
import type { ChatRow } from "../../api/types";

interface Command {
  id: string;
  group: "This chat" | "Chats" | "Actions" | "Go to";
  name: string;
  /** Further words that find it. */
  words?: string;
  picture: ComponentChild;
  hint?: string;
  key?: string;
  run: () => void;
}

const MAX_CHATS = 8;
const STATES: Record<ChatRow["state"], string> = { waiting: "waiting", active: "active", bot: "bot", closed: "closed" };

function chatCommand(row: ChatRow): Command {
  return {
    id: `chat-${row.chat_id}`,
    group: "Chats",
    name: nameOf(row),
    hint: `#${row.chat_id} · ${STATES[row.state]}`,
    picture: (
      <Face id={row.visitor.number} name={row.visitor.name} isAnonymous={isAnonymous(row.visitor.name)} class="small" />
    ),
    run: () => openChat(row.chat_id),
  };
}

const icon = (name: IconName) => <Icon name={name} />;

function commandsOf(workspace: Workspace): Command[] {
  const commands: Command[] = [];
  const id = workspace.shownId.value;
  const row = id === undefined ? undefined : workspace.header(id);
  const add = (group: Command["group"], name: string, sign: IconName, run: () => void, more: Partial<Command> = {}) =>
    commands.push({ id: `${group}-${name}`, group, name, picture: icon(sign), run, ...more });
  if (row !== undefined) {
    const chatId = row.chat_id;
    const isMine = workspace.chats.isMine(row);
    if (row.state === "waiting" || row.state === "bot")
      add(
        "This chat",
        row.state === "bot" ? "Take over from the bot" : "Accept",
        "check",
        () => acceptChat(workspace, chatId),
        { key: "A" },
      );
    if (isMine)
      add("This chat", "Reply", "message-square", () => askComposer(chatId), { key: "R", words: "write answer" });
    if (isMine)
      add("This chat", "Send a link to a file", "paperclip", () => (floating.value = { kind: "file", chatId }), {
        words: "photo video document attach",
      });
    add("This chat", "Add a private note", "sticky-note", () => askComposer(chatId, "note"), { key: "N" });
    if (row.state === "active" && (isMine || workspace.isAdmin))
      add("This chat", "Transfer…", "arrow-right-left", () => (floating.value = { kind: "transfer", chatId }), {
        key: "T",
        words: "assign agent department hand over",
      });
    if (row.state !== "closed" && (isMine || row.state !== "active" || workspace.isAdmin))
      add("This chat", "Close", "x", () => requestClose(workspace, chatId), { key: "E", words: "end finish" });
    const visitor = workspace.timelines.known(chatId)?.detail.value?.visitor;
    if (visitor !== undefined) {
      add(
        "This chat",
        visitor.blacklisted ? "Take off the blacklist" : "Blacklist the visitor",
        "ban",
        () => void setBlacklisted(workspace, chatId, visitor.number, !visitor.blacklisted),
        { words: "block ban spam" },
      );
      if (workspace.isAdmin)
        add(
          "This chat",
          "Erase the visitor…",
          "trash-2",
          () => (floating.value = { kind: "erase", chatId, number: visitor.number, name: nameOf(row) }),
          { words: "delete gdpr forget" },
        );
    }
  }
  if (workspace.chats.waiting.value.length > 0 && row?.state !== "waiting")
    add("Actions", "Accept who has waited longest", "check", () => acceptNext(workspace), { key: "A" });
  const isOnline = workspace.presence.value === "online";
  add(
    "Actions",
    isOnline ? "Go away" : "Go online",
    "user-round",
    () => void workspace.setPresence(isOnline ? "away" : "online"),
    { words: "presence status pause" },
  );
  const themes = { light: "sun", dark: "moon", system: "monitor" } as const;
  for (const name of ["light", "dark", "system"] as const) {
    if (theme.value !== name)
      add(
        "Actions",
        name === "system" ? "Theme of the system" : `${name === "dark" ? "Dark" : "Light"} theme`,
        themes[name],
        () => (theme.value = name),
        { words: "appearance colours" },
      );
  }
  add(
    "Actions",
    hasSound.value ? "Sound off" : "Sound on",
    hasSound.value ? "volume-x" : "volume-2",
    () => (hasSound.value = !hasSound.value),
    { words: "mute" },
  );
  if (workspace.isAdmin && workspace.cannedReplies.value !== null)
    add("Actions", "Manage canned replies", "square-slash", () => (floating.value = { kind: "canned" }), {
      words: "templates shortcuts",
    });
  if (workspace.isAdmin)
    add("Actions", "Add a channel", "plug", () => (floating.value = { kind: "channel" }), { words: "connect api" });
  add("Actions", "Keys", "keyboard", () => (floating.value = { kind: "keys" }), { key: "?", words: "shortcuts help" });
  add("Actions", "Sign out", "log-out", () => (floating.value = { kind: "sign-out" }), { words: "log out leave" });
  const tabNames = {
    waiting: "Waiting chats",
    mine: "My chats",
    bot: "Chats with a bot",
    all: "All open chats",
    closed: "Closed chats",
  };
  for (const name of TABS)
    add("Go to", tabNames[name], "inbox", () => ((tab.value = name), openChat(undefined)), { words: "inbox list" });
  for (const section of SECTIONS) {
    const { name, icon: sign } = SECTION_NAMES[section];
    if (section !== "inbox") add("Go to", name, sign, () => go({ section, id: undefined }));
  }
  return commands;
}

export function Palette() {
  const workspace = useWorkspace();
  const [words, setWords] = useState("");
  const [selected, setSelected] = useState(0);
  const [remote, setRemote] = useState<readonly ChatRow[]>([]);
  const wanted = words.trim().toLowerCase();

  useEffect(() => {
    setRemote([]);
    if (wanted.length < 2) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      void workspace.api.get("/agent/search", { query: { q: wanted } }).then(
        ({ chats }) => isCurrent && setRemote(chats),
        () => {},
      );
    }, 200);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [wanted]);

  const commands = useMemo(() => commandsOf(workspace), []);
  const { chats } = workspace;
  const list = useMemo(() => {
    const local =
      wanted === ""
        ? [...chats.waiting.value, ...chats.mine.value].slice(0, MAX_CHATS)
        : matchRows(chats.rows.value.values(), wanted).slice(0, MAX_CHATS);
    const ids = new Set(local.map((row) => row.chat_id));
    const rows = [...local, ...remote.filter((row) => !ids.has(row.chat_id))].slice(0, MAX_CHATS).map(chatCommand);
    const matching = commands.filter(({ name, words, group }) => {
      const text = `${name} ${words ?? ""} ${group}`.toLowerCase();
      return wanted.split(/\s+/).every((word) => text.includes(word));
    });
    const here = matching.filter(({ group }) => group === "This chat");
    const rest = matching.filter(({ group }) => group !== "This chat");
    return wanted === "" ? [...here, ...rows, ...rest] : [...rows.slice(0, 5), ...here, ...rest];
  }, [wanted, remote, chats.rows.value]);
  const at = Math.min(selected, Math.max(0, list.length - 1));

  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    closeFloating();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && list.length > 0) {
      event.preventDefault();
      const next = (at + step + list.length) % list.length;
      setSelected(next);
      document.getElementById(`command-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      run(list[at]);
    }
  };
  return (
    <Dialog title="Find a chat or an action" isBare class="palette" onClose={closeFloating}>
      <div class="ask">
        <Icon name="search" />
        <input
          data-autofocus
          role="combobox"
          aria-expanded={true}
          aria-controls="commands"
          aria-activedescendant={list.length > 0 ? `command-${at}` : undefined}
          aria-label="Find a chat or an action"
          placeholder="Find a chat or an action"
          autocomplete="off"
          spellcheck={false}
          value={words}
          onInput={(event) => {
            setWords(event.currentTarget.value);
            setSelected(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      {list.length === 0 ? (
        <p class="none">Nothing of that name.</p>
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
              aria-selected={index === at}
              onMouseMove={() => index !== at && setSelected(index)}
              onClick={() => run(command)}
            >
              {command.picture}
              <span class="clip" dir="auto">
                {command.name}
              </span>
              {command.hint !== undefined && <small>{command.hint}</small>}
              {command.key !== undefined && <kbd aria-hidden="true">{command.key}</kbd>}
            </li>,
          ])}
        </ul>
      )}
    </Dialog>
  );
}
