import { useEffect, useRef, useState } from "preact/hooks";
import { controlAttributes, FieldNotes } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { chooseLanguage, loadTexts, type Texts } from "../../widget/texts";
import type { WidgetDraft } from "./widget-draft";
import { t } from "../../texts/translate";

const MAX_TEXT_CHARACTERS = 200;

/** Returns the standard texts of the language in which the widget appears in this browser, or undefined until they are
 * loaded. */
export function useStandardTexts(setting: string): { language: string; texts: Texts } | undefined {
  const language = chooseLanguage(setting, navigator.languages);
  const [loaded, setLoaded] = useState<{ language: string; texts: Texts }>();
  useEffect(() => {
    let isCurrent = true;
    loadTexts(language).then(
      (texts) => isCurrent && setLoaded({ language, texts }),
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [language]);
  return loaded;
}

interface OwnTextsProps {
  settings: Pick<WidgetDraft["settings"], "texts" | "language">;
  problem: string | undefined;
  onChange: (texts: Record<string, string>) => void;
}

/** The texts that replace standard texts of the widget, and a list to choose further ones from. */
export function OwnTexts({ settings, problem, onChange }: OwnTextsProps) {
  const { texts, language } = settings;
  const standard: Record<string, string> = useStandardTexts(language)?.texts ?? {};
  const list = useRef<HTMLDivElement>(null);
  const [chosenKey, setChosenKey] = useState("");
  const [addedKey, setAddedKey] = useState<string>();
  useEffect(() => {
    if (addedKey !== undefined) document.getElementById(`text-${addedKey}`)?.focus();
  }, [addedKey]);

  const add = () => {
    if (chosenKey === "") return;
    onChange({ ...texts, [chosenKey]: standard[chosenKey] ?? "" });
    setAddedKey(chosenKey);
    setChosenKey("");
  };
  const remove = (key: string) => {
    const { [key]: _, ...others } = texts;
    onChange(others);
    setAddedKey(undefined);
    list.current?.querySelector("select")?.focus();
  };
  return (
    <div class="own-texts" ref={list}>
      {Object.entries(texts).map(([key, text]) => (
        <div key={key} class="field">
          <label for={`text-${key}`}>{standard[key] ?? key}</label>
          <div class="own-text">
            <input
              id={`text-${key}`}
              class="input"
              autocomplete="off"
              maxLength={MAX_TEXT_CHARACTERS}
              dir="auto"
              placeholder={standard[key]}
              value={text}
              onInput={(event) => onChange({ ...texts, [key]: event.currentTarget.value })}
            />
            <button
              type="button"
              class="btn only-icon"
              aria-label={t`Use the standard text: ${standard[key] ?? key}`}
              title={t`Use the standard text`}
              onClick={() => remove(key)}
            >
              <Icon name="x" />
            </button>
          </div>
        </div>
      ))}
      <div class="field">
        <label for="widget.texts">{t`Use own words`}</label>
        <div class="own-text">
          <select
            {...controlAttributes("widget.texts", true, problem)}
            class="input"
            value={chosenKey}
            onChange={(event) => setChosenKey(event.currentTarget.value)}
          >
            <option value="">{t`Choose a text…`}</option>
            {Object.entries(standard)
              .filter(([key]) => !Object.hasOwn(texts, key))
              .map(([key, text]) => (
                <option key={key} value={key}>
                  {text}
                </option>
              ))}
          </select>
          <button type="button" class="btn line" aria-disabled={chosenKey === ""} onClick={add}>
            {t`Add`}
          </button>
        </div>
        <FieldNotes
          id="widget.texts"
          problem={problem}
          help={
            language === "auto"
              ? t`Own words appear in every language. To write them in one language, choose it above.`
              : t`They replace the standard text.`
          }
        />
      </div>
    </div>
  );
}
