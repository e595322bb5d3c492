/* How a widget looks, and where it stands on the page. */

import type { WidgetSettings } from "../../api/types";
import {
  controlAttributes,
  FieldNotes,
  NumberField,
  Segments,
  SelectField,
  Switch,
  TextAreaField,
  TextField,
  URL_INPUT,
} from "../../ui/form-fields";
import { FormSection } from "../admin/detail-header";
import { LAUNCHER_RANGES, type WidgetDraft, type SectionProps } from "./widget-draft";
import { t } from "../../texts/translate";

const THEMES = [
  { value: "system", label: t`As the visitor's device` },
  { value: "light", label: t`Always light` },
  { value: "dark", label: t`Always dark` },
] as const;
const POSITIONS = [
  { value: "left", label: t`Left` },
  { value: "right", label: t`Right` },
] as const;
const REPLY_TIMES = [
  { value: "", label: t`Say nothing` },
  { value: "minutes", label: t`In a few minutes` },
  { value: "hours", label: t`In a few hours` },
  { value: "day", label: t`Within a day` },
] as const;

export type Colors = Pick<WidgetDraft["settings"], "color" | "color2">;

export function LookSection({ settings, shownColors, problems, change }: SectionProps & { shownColors: Colors }) {
  return (
    <FormSection title={t`Look`}>
      <div class="two-fields">
        <ColorField
          id="widget.color"
          label={t`Colour`}
          value={settings.color}
          shown={shownColors.color}
          problem={problems["widget.color"]}
          onChange={(color) => change({ color })}
        />
        <ColorField
          id="widget.color2"
          label={t`Visitor's messages`}
          value={settings.color2 ?? ""}
          shown={shownColors.color2 ?? shownColors.color}
          placeholder={t`The same`}
          problem={problems["widget.color2"]}
          onChange={(color2) => change({ color2 })}
        />
      </div>
      <Segments
        name="theme"
        label={t`Theme`}
        value={settings.theme}
        options={THEMES}
        onChange={(theme) => change({ theme })}
      />
      <TextField
        id="widget.title"
        label={t`Title`}
        problem={problems["widget.title"]}
        value={settings.title}
        onInput={(title) => change({ title })}
        input={{ maxLength: 255, dir: "auto" }}
      />
      <TextAreaField
        id="widget.greeting"
        label={t`Greeting (optional)`}
        help={t`The first line above the conversation. It is signed with the title.`}
        problem={problems["widget.greeting"]}
        value={settings.greeting ?? ""}
        onInput={(greeting) => change({ greeting })}
        area={{ rows: 2, maxLength: 1000, dir: "auto" }}
      />
      <SelectField
        id="reply-time"
        label={t`How fast you usually answer`}
        help={t`The first screen says it while agents are online.`}
        value={settings.reply_time ?? ""}
        options={REPLY_TIMES}
        onChange={(time) => change({ reply_time: time || null })}
      />
      <TextField
        id="widget.avatar"
        label={t`Address of a picture (optional)`}
        help={t`Shown beside the title while no agent is online.`}
        problem={problems["widget.avatar"]}
        value={settings.avatar ?? ""}
        onInput={(avatar) => change({ avatar })}
        input={{ ...URL_INPUT, placeholder: "https://" }}
      />
    </FormSection>
  );
}

/** The button that opens the window, and the place of both on the page. */
export function LauncherSection({ settings, problems, change }: SectionProps) {
  const { launcher, position } = settings;
  const numberField = (name: keyof typeof LAUNCHER_RANGES, label: string, help?: string) => (
    <NumberField
      id={`widget.launcher.${name}`}
      label={label}
      help={help}
      problem={problems[`widget.launcher.${name}`]}
      value={launcher[name]}
      onInput={(value) => change({ launcher: { ...launcher, [name]: value } })}
    />
  );
  return (
    <FormSection title={t`Place on the page`}>
      <Switch
        label={t`Chat button`}
        help={t`If off, only your own button opens the window: let it call widget_api.open().`}
        isOn={!launcher.hidden}
        onChange={(isShown) => change({ launcher: { ...launcher, hidden: !isShown } })}
      />
      <Segments
        name="position"
        label={t`Side`}
        value={position}
        options={POSITIONS}
        onChange={(position: WidgetSettings["position"]) => change({ position })}
      />
      <div class="two-fields">
        {numberField("offset_x", t`Distance from the side`)}
        {numberField("offset_y", t`Distance from the bottom`)}
      </div>
      {numberField("z_index", t`Layer (z-index)`, t`A lower number puts the chat behind a bar or dialog of your page.`)}
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
          aria-label={t`Pick: ${label}`}
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
