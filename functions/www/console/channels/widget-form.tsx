/* The settings of a widget as a form. The ids of the controls are the field names in the service's errors. */

import type { WidgetSettings } from "../../api/types";
import { controlAttributes, Field, FieldNotes, Segments, Switch } from "../../ui/form-fields";
import { AudienceFields } from "./audience-fields";
import { FormSection } from "../admin/detail-header";
import { OwnTexts } from "./own-texts";
import type { Problems } from "../admin/use-settings-form";
import { CONTACT_FIELDS, withField, type ContactField, type WidgetDraft } from "./widget-draft";

/** The fields that show their own problems. */
export const FIELD_NAMES = [
  "name",
  "widget.allowed_sites",
  "widget.color",
  "widget.color2",
  "widget.title",
  "widget.greeting",
  "widget.avatar",
  "widget.texts",
  "widget.contacts_form.fields",
] as const;

const LANGUAGES: readonly { value: WidgetSettings["language"]; label: string }[] = [
  { value: "auto", label: "The page's or the visitor's language" },
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
const POSITIONS = [
  { value: "left", label: "Left" },
  { value: "right", label: "Right" },
] as const;
const FORM_TIMES = [
  { value: "never", label: "Never" },
  { value: "before_first_message", label: "Before the first message" },
  { value: "after_first_message", label: "After the first message" },
] as const;
const CONTACT_FIELD_LABELS: Record<ContactField, string> = { name: "Name", email: "E-mail", phone: "Phone" };

type Colors = Pick<WidgetDraft["settings"], "color" | "color2">;

interface WidgetFormProps {
  draft: WidgetDraft;
  /** The colours of the preview. They stay complete while new ones are being typed. */
  shownColors: Colors;
  problems: Problems;
  onChange: (draft: WidgetDraft) => void;
}

type SettingsChange = (changes: Partial<WidgetDraft["settings"]>) => void;
interface SectionProps {
  settings: WidgetDraft["settings"];
  problems: Problems;
  change: SettingsChange;
}

export function WidgetForm({ draft, shownColors, problems, onChange }: WidgetFormProps) {
  const { settings } = draft;
  const change: SettingsChange = (changes) => onChange({ ...draft, settings: { ...settings, ...changes } });
  const section = { settings, problems, change };
  return (
    <>
      {problems[""] !== undefined && (
        <p class="notice bad" role="alert" tabIndex={-1}>
          {problems[""]}
        </p>
      )}
      <FormSection title="General">
        <Field id="name" label="Name" help="Agents see it beside each chat." problem={problems["name"]}>
          {(attributes) => (
            <input
              {...attributes}
              class="input"
              autocomplete="off"
              maxLength={255}
              dir="auto"
              value={draft.name}
              onInput={(event) => onChange({ ...draft, name: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field
          id="widget.allowed_sites"
          label="Allowed sites"
          help="One host on each line. *.shop.example stands for all subdomains. Without sites, every page may show the widget."
          problem={problems["widget.allowed_sites"]}
        >
          {(attributes) => (
            <textarea
              {...attributes}
              class="input"
              rows={3}
              spellcheck={false}
              dir="ltr"
              placeholder={"shop.example\n*.shop.example"}
              value={draft.sites}
              onInput={(event) => onChange({ ...draft, sites: event.currentTarget.value })}
            />
          )}
        </Field>
        <Switch
          label="Shown on your site"
          help="If off, the chat window is hidden. Open chats stay open."
          isOn={draft.enabled}
          onChange={(enabled) => onChange({ ...draft, enabled })}
        />
        <AudienceFields audience={draft.audience} onChange={(audience) => onChange({ ...draft, audience })} />
      </FormSection>
      <LookSection {...section} shownColors={shownColors} />
      <FormSection title="Language and texts">
        <Field id="language" label="Language">
          {(attributes) => (
            <select
              {...attributes}
              class="input"
              value={settings.language}
              onChange={(event) => change({ language: event.currentTarget.value as WidgetSettings["language"] })}
            >
              {LANGUAGES.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <OwnTexts settings={settings} problem={problems["widget.texts"]} onChange={(texts) => change({ texts })} />
      </FormSection>
      <ContactsFormSection {...section} />
      <FormSection title="Behaviour">
        <Switch
          label="Visitors can rate a chat"
          help="They are asked when a chat with an agent has ended."
          isOn={settings.rating}
          onChange={(rating) => change({ rating })}
        />
        <Switch
          label="Sound"
          help="Played for a new message that the visitor does not see at once."
          isOn={settings.sound}
          onChange={(sound) => change({ sound })}
        />
      </FormSection>
    </>
  );
}

function LookSection({ settings, shownColors, problems, change }: SectionProps & { shownColors: Colors }) {
  return (
    <FormSection title="Look">
      <div class="two-fields">
        <ColorField
          id="widget.color"
          label="Colour"
          value={settings.color}
          shown={shownColors.color}
          problem={problems["widget.color"]}
          onChange={(color) => change({ color })}
        />
        <ColorField
          id="widget.color2"
          label="Visitor's messages"
          value={settings.color2 ?? ""}
          shown={shownColors.color2 ?? shownColors.color}
          placeholder="The same"
          problem={problems["widget.color2"]}
          onChange={(color2) => change({ color2 })}
        />
      </div>
      <Segments
        name="position"
        label="Position"
        value={settings.position}
        options={POSITIONS}
        onChange={(position) => change({ position })}
      />
      <Field id="widget.title" label="Title" problem={problems["widget.title"]}>
        {(attributes) => (
          <input
            {...attributes}
            class="input"
            autocomplete="off"
            maxLength={255}
            dir="auto"
            value={settings.title}
            onInput={(event) => change({ title: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field
        id="widget.greeting"
        label="Greeting (optional)"
        help="The first line above the conversation."
        problem={problems["widget.greeting"]}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            class="input"
            rows={2}
            maxLength={1000}
            dir="auto"
            value={settings.greeting ?? ""}
            onInput={(event) => change({ greeting: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field
        id="widget.avatar"
        label="Address of a picture (optional)"
        help="Shown beside the title while no agent is online."
        problem={problems["widget.avatar"]}
      >
        {(attributes) => (
          <input
            {...attributes}
            class="input"
            type="url"
            inputmode="url"
            autocomplete="off"
            spellcheck={false}
            dir="ltr"
            placeholder="https://"
            value={settings.avatar ?? ""}
            onInput={(event) => change({ avatar: event.currentTarget.value })}
          />
        )}
      </Field>
    </FormSection>
  );
}

interface ColorFieldProps {
  id: string;
  label: string;
  value: string;
  /** The colour that applies while `value` is empty or incomplete. */
  shown: string;
  placeholder?: string;
  problem: string | undefined;
  onChange: (color: string) => void;
}

/** A colour, to be picked or typed. */
function ColorField({ id, label, value, shown, placeholder, problem, onChange }: ColorFieldProps) {
  const attributes = controlAttributes(id, false, problem);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="color-field">
        <input
          type="color"
          aria-label={`Pick: ${label}`}
          value={shown}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
        <input
          {...attributes}
          class="input"
          autocomplete="off"
          spellcheck={false}
          maxLength={7}
          dir="ltr"
          placeholder={placeholder}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </div>
      <FieldNotes id={id} problem={problem} />
    </div>
  );
}

function ContactsFormSection({ settings, problems, change }: SectionProps) {
  const form = settings.contacts_form;
  const isUsed = form.when !== "never";
  const attributes = controlAttributes("widget.contacts_form.fields", false, problems["widget.contacts_form.fields"]);
  const checkbox = (list: "fields" | "required", field: ContactField, label: string) => (
    <input
      type="checkbox"
      aria-invalid={list === "fields" && attributes["aria-invalid"]}
      aria-label={label}
      checked={form[list].includes(field)}
      disabled={list === "required" && !form.fields.includes(field)}
      onChange={(event) => change({ contacts_form: withField(form, list, field, event.currentTarget.checked) })}
    />
  );
  return (
    <FormSection title="Contacts form">
      <Field id="contacts-when" label="Ask visitors for contact data">
        {(attributes) => (
          <select
            {...attributes}
            class="input"
            value={form.when}
            onChange={(event) =>
              change({ contacts_form: { ...form, when: event.currentTarget.value as typeof form.when } })
            }
          >
            {FORM_TIMES.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div class="field">
        <table id={attributes.id} class="contact-fields" aria-describedby={attributes["aria-describedby"]}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Asked</th>
              <th scope="col">Required</th>
            </tr>
          </thead>
          <tbody>
            {CONTACT_FIELDS.map((field) => {
              const name = CONTACT_FIELD_LABELS[field];
              return (
                <tr key={field}>
                  <th scope="row">{name}</th>
                  <td>{checkbox("fields", field, `Ask for ${name.toLowerCase()}`)}</td>
                  <td>{checkbox("required", field, `Require ${name.toLowerCase()}`)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
        <FieldNotes
          id={attributes.id}
          problem={problems[attributes.id]}
          help={isUsed ? undefined : "The form for messages while nobody is online asks for these fields too."}
        />
      </div>
    </FormSection>
  );
}
