/* A preview of the widget. It is rendered by the widget's own view, so that it shows what visitors see. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Segments } from "../../ui/form-fields";
import { theme } from "../../ui/theme";
import { session } from "../state/agent/session";
import { HostElement } from "../../widget/view/host-element";
import { View } from "../../widget/view/mount";
import type { Actions } from "../../widget/view/props";
import { withOverrides } from "../../widget/texts";
import { useStandardTexts } from "./own-texts";
import { adaptToPreview } from "./preview-styles";
import { PREVIEW_MOMENTS, previewState, type PreviewMoment } from "./preview-state";
import type { WidgetDraft } from "./widget-draft";
import { t } from "../../texts/translate";

const loadWindow = () => import("../../widget/view/window-main");
const nothing = () => {};
const NO_ACTIONS: Actions = {
  open: nothing,
  close: nothing,
  dismissInvitation: nothing,
  dismissPreview: nothing,
  send: nothing,
  stopAnswer: nothing,
  sendFiles: nothing,
  cancelUpload: nothing,
  retryUpload: nothing,
  retry: nothing,
  typed: nothing,
  readDraft: () => "",
  submitContacts: nothing,
  skipContacts: nothing,
  submitOffline: nothing,
  writeAnother: nothing,
  rate: nothing,
  loadEarlier: nothing,
  mediaFailed: nothing,
};
const SCHEMES = [
  { value: "light", label: t`Light` },
  { value: "dark", label: t`Dark` },
] as const;
type Scheme = (typeof SCHEMES)[number]["value"];

const consoleScheme = (): Scheme => {
  if (theme.value !== "system") return theme.value;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
};

export function WidgetPreview({ settings }: { settings: WidgetDraft["settings"] }) {
  const stage = useRef<HTMLDivElement>(null);
  const view = useRef<View | undefined>(undefined);
  const [openedAt] = useState(() => Date.now());
  const [moment, setMoment] = useState<PreviewMoment>("start");
  const [chosenScheme, setScheme] = useState<Scheme>();
  const scheme = chosenScheme ?? consoleScheme();
  const standard = useStandardTexts(settings.language);

  useEffect(() => {
    if (stage.current === null) return;
    const created = new View(NO_ACTIONS, loadWindow, new HostElement(stage.current));
    adaptToPreview(stage.current);
    view.current = created;
    return () => created.remove();
  }, []);
  useEffect(() => {
    if (standard === undefined || stage.current === null) return;
    const { language, texts } = standard;
    const agent = { name: session.peek()?.name ?? "", photo: session.peek()?.photo ?? null };
    // The preview shows another device than this one, so it must not follow this one's theme.
    const shown = settings.theme === "system" ? { ...settings, theme: scheme } : settings;
    view.current?.render(
      previewState(moment, shown, { language, texts: withOverrides(texts, settings.texts), agent, now: openedAt }),
    );
  });

  const label = PREVIEW_MOMENTS.find(({ value }) => value === moment)?.label ?? "";
  return (
    <section class="channel-preview" aria-label={t`Preview`}>
      <div class="preview-bar">
        <Segments
          name="moment"
          label={t`Moment`}
          hidesLabel
          value={moment}
          options={PREVIEW_MOMENTS}
          onChange={setMoment}
        />
        <Segments
          name="scheme"
          label={t`Colours of the visitor's device`}
          hidesLabel
          value={scheme}
          options={SCHEMES}
          onChange={setScheme}
        />
      </div>
      <div class="preview-frame" role="img" aria-label={t`The widget: ${label}`}>
        <div ref={stage} class={`preview-stage ${scheme}`} inert />
      </div>
    </section>
  );
}
