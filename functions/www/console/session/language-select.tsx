import { changeLanguage, language, LANGUAGES, t } from "../../texts/translate";
import { SelectField } from "../../ui/form-fields";

const OPTIONS = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }));

/** Selects the language of the console, in this browser. The page is loaded again. */
export const LanguageSelect = () => (
  <SelectField id="language" label={t`Language`} value={language} options={OPTIONS} onChange={changeLanguage} />
);
