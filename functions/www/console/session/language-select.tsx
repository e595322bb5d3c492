import { useState } from "preact/hooks";
import { changeLanguage, language, LANGUAGES, t } from "../../texts/translate";

/** Selects the language of the console, in this browser. The page is loaded again, but only after a confirmation, because
 * an arrow key on the closed list already selects. It does without `ui/form-fields`, which the sign-in page would
 * otherwise add to the first load. */
export function LanguageSelect() {
  const [selected, setSelected] = useState<string>(language);
  return (
    <div class="field">
      <label for="language">{t`Language`}</label>
      <select id="language" class="input" value={selected} onChange={(event) => setSelected(event.currentTarget.value)}>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
      {selected !== language && (
        <button type="button" class="btn line" onClick={() => changeLanguage(selected)}>
          {t`Apply`}
        </button>
      )}
    </div>
  );
}
