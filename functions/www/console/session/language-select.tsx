import { changeLanguage, language, LANGUAGES, t } from "../../texts/translate";

/** Selects the language of the console, in this browser. The page is loaded again. It does without `ui/form-fields`, which
 * the sign-in page would otherwise add to the first load. */
export const LanguageSelect = () => (
  <div class="field">
    <label for="language">{t`Language`}</label>
    <select
      id="language"
      class="input"
      value={language}
      onChange={(event) => changeLanguage(event.currentTarget.value)}
    >
      {Object.entries(LANGUAGES).map(([code, name]) => (
        <option key={code} value={code} lang={code}>
          {name}
        </option>
      ))}
    </select>
  </div>
);
