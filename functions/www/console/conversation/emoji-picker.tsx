import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { tabStorage } from "../../ui/storage";
import { t } from "../../texts/translate";

const EMOJI_COLUMNS = 8;
const MAX_RECENT_EMOJI = 16;
const KEY_STEPS: Record<string, number> = {
  ArrowRight: 1,
  ArrowLeft: -1,
  ArrowDown: EMOJI_COLUMNS,
  ArrowUp: -EMOJI_COLUMNS,
};

export function EmojiPicker({ onChoose }: { onChoose: (emoji: string) => void }) {
  const [allEmoji, setAllEmoji] = useState<readonly (readonly [string, string])[]>();
  const [searchText, setSearchText] = useState("");
  const grid = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void import("./emoji-list").then(({ EMOJI }) => setAllEmoji(EMOJI));
  }, []);
  const recent = useMemo(() => tabStorage.read<string[]>("emoji") ?? [], []);
  const searchTerm = searchText.trim().toLowerCase();
  const list = useMemo(() => {
    if (allEmoji === undefined) return undefined;
    if (searchTerm !== "")
      return allEmoji.filter(([, name]) => searchTerm.split(/\s+/).every((word) => name.includes(word)));
    const recentlyUsed = recent.flatMap((emoji) => allEmoji.filter(([candidate]) => candidate === emoji));
    return [...recentlyUsed, ...allEmoji.filter(([emoji]) => !recent.includes(emoji))];
  }, [allEmoji, searchTerm]);
  const chooseEmoji = (emoji: string) => {
    tabStorage.write("emoji", [emoji, ...recent.filter((other) => other !== emoji)].slice(0, MAX_RECENT_EMOJI));
    onChoose(emoji);
  };
  const moveFocus = (event: KeyboardEvent) => {
    const buttons = [...(grid.current?.querySelectorAll("button") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = KEY_STEPS[event.key];
    if (step === undefined || at < 0) return;
    event.preventDefault();
    if (at + step < 0) grid.current?.parentElement?.querySelector("input")?.focus();
    else buttons[Math.min(buttons.length - 1, at + step)]?.focus();
  };
  return (
    <>
      <input
        class="input"
        type="search"
        placeholder={t`Search emoji`}
        aria-label={t`Search emoji`}
        data-autofocus
        value={searchText}
        onInput={(event) => setSearchText(event.currentTarget.value)}
        onKeyDown={(event) => {
          const first = list?.[0];
          if (event.key === "ArrowDown") {
            event.preventDefault();
            grid.current?.querySelector("button")?.focus();
          } else if (event.key === "Enter" && first !== undefined) {
            event.preventDefault();
            chooseEmoji(first[0]);
          }
        }}
      />
      <div ref={grid} class="grid scroll" onKeyDown={moveFocus}>
        {list?.map(([emoji, name]) => (
          <button key={emoji} type="button" title={name} aria-label={name} onClick={() => chooseEmoji(emoji)}>
            {emoji}
          </button>
        ))}
        {list?.length === 0 && <p>{t`No emoji found`}</p>}
      </div>
    </>
  );
}
