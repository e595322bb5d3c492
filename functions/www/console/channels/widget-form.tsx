/* The settings of a widget as a form. The ids of the controls are the field names in the service's errors. */

import type { BusinessHours, WidgetSettings } from "../../api/types";
import { SelectField, Switch, TextAreaField, TextField } from "../../ui/form-fields";
import { BusinessHoursFields } from "../admin/business-hours";
import { HOURS_FIELDS } from "../admin/business-hours-draft";
import { FormProblem, FormSection } from "../admin/detail-header";
import type { Problems } from "../admin/use-settings-form";
import { AudienceFields, HOURS_HELP } from "./audience-fields";
import { ContactsSection } from "./contacts-section";
import { CUSTOM_FIELD_IDS, CUSTOM_FIELDS_ID } from "./custom-field-draft";
import { LauncherSection, LookSection, type Colors } from "./look-section";
import { OwnTexts } from "./own-texts";
import type { SettingsChange, WidgetDraft } from "./widget-draft";
import { t } from "../../texts/translate";

/** The fields that show their own problems. */
export const FIELD_NAMES = [
  "name",
  "widget.allowed_sites",
  "widget.color",
  "widget.color2",
  "widget.title",
  "widget.greeting",
  "widget.avatar",
  "widget.launcher.offset_x",
  "widget.launcher.offset_y",
  "widget.launcher.z_index",
  "widget.texts",
  "widget.contacts_form.fields",
  ...CUSTOM_FIELD_IDS,
  CUSTOM_FIELDS_ID,
  ...HOURS_FIELDS,
] as const;

const LANGUAGES: readonly { value: WidgetSettings["language"]; label: string }[] = [
  { value: "auto", label: t`The page's or the visitor's language` },
  { value: "en", label: "English" },
  { value: "de", label: "Deutsch" },
  { value: "es", label: "Español" },
  { value: "fr", label: "Français" },
  { value: "it", label: "Italiano" },
  { value: "nl", label: "Nederlands" },
  { value: "pl", label: "Polski" },
  { value: "pt", label: "Português" },
  { value: "tr", label: "Türkçe" },
  { value: "ru", label: "Русский" },
  { value: "uk", label: "Українська" },
  { value: "he", label: "עברית" },
  { value: "ar", label: "العربية" },
  { value: "ja", label: "日本語" },
  { value: "zh", label: "中文" },
];
const MOVED_FROM = [
  { value: "", label: t`No` },
  { value: "jivo", label: t`Yes, from Jivo` },
] as const;

interface WidgetFormProps {
  draft: WidgetDraft;
  /** The hours that the service has stored. */
  storedHours: BusinessHours | null;
  /** The colours of the preview. They stay complete while new ones are being typed. */
  shownColors: Colors;
  problems: Problems;
  onChange: (draft: WidgetDraft) => void;
}

export function WidgetForm({ draft, storedHours, shownColors, problems, onChange }: WidgetFormProps) {
  const { settings } = draft;
  const change: SettingsChange = (changes) => onChange({ ...draft, settings: { ...settings, ...changes } });
  const section = { settings, problems, change };
  return (
    <>
      <FormProblem text={problems[""]} />
      <FormSection title={t`General`}>
        <TextField
          id="name"
          label={t`Name`}
          help={t`Agents see it beside each chat.`}
          problem={problems["name"]}
          value={draft.name}
          onInput={(name) => onChange({ ...draft, name })}
          input={{ maxLength: 255, dir: "auto" }}
        />
        <TextAreaField
          id="widget.allowed_sites"
          label={t`Allowed sites`}
          help={t`One host on each line. *.shop.example stands for all subdomains. Without sites, every page may show the widget.`}
          problem={problems["widget.allowed_sites"]}
          value={draft.sites}
          onInput={(sites) => onChange({ ...draft, sites })}
          area={{ rows: 3, spellcheck: false, dir: "ltr", placeholder: "shop.example\n*.shop.example" }}
        />
        <Switch
          label={t`Shown on your site`}
          help={t`If off, the chat window is hidden. Open chats stay open.`}
          isOn={draft.enabled}
          onChange={(enabled) => onChange({ ...draft, enabled })}
        />
        <AudienceFields audience={draft.audience} onChange={(audience) => onChange({ ...draft, audience })} />
      </FormSection>
      <LookSection {...section} shownColors={shownColors} />
      <LauncherSection {...section} />
      <FormSection title={t`Language and texts`}>
        <SelectField
          id="language"
          label={t`Language`}
          value={settings.language}
          options={LANGUAGES}
          onChange={(language) => change({ language })}
        />
        <OwnTexts settings={settings} problem={problems["widget.texts"]} onChange={(texts) => change({ texts })} />
      </FormSection>
      <ContactsSection {...section} />
      <FormSection title={t`Business hours`}>
        <BusinessHoursFields
          hours={draft.business_hours}
          stored={storedHours}
          withoutHours={HOURS_HELP}
          problems={problems}
          onChange={(business_hours) => onChange({ ...draft, business_hours })}
        />
      </FormSection>
      <FormSection title={t`Behaviour`}>
        <Switch
          label={t`Visitors can rate a chat`}
          help={t`They are asked when a chat with an agent has ended.`}
          isOn={settings.rating}
          onChange={(rating) => change({ rating })}
        />
        <Switch
          label={t`Sound`}
          help={t`Played for a new message that the visitor does not see at once.`}
          isOn={settings.sound}
          onChange={(sound) => change({ sound })}
        />
        <Switch
          label={t`Agents see what visitors are typing`}
          help={t`They see the text before it is sent. If off, they see only that the visitor is typing. Say it in your privacy policy if it is on.`}
          isOn={settings.typing_preview}
          onChange={(typing_preview) => change({ typing_preview })}
        />
        <SelectField
          id="moved-from"
          label={t`Moved from another service`}
          help={t`For pages that were written for that service's widget: their code works unchanged, because the names of the object and the callbacks begin with jivo_, and the selector jdiv finds the widget.`}
          value={settings.moved_from ?? ""}
          options={MOVED_FROM}
          onChange={(service) => change({ moved_from: service || null })}
        />
      </FormSection>
    </>
  );
}
