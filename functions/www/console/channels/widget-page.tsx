/* The page of a widget: its settings, and a preview that follows them. */

import { useEffect, useState } from "preact/hooks";
import type { WidgetChannel } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { Segments } from "../../ui/form-fields";
import { CHANNELS_ROUTE } from "../state/page/page-routes";
import { useWorkspace } from "../workspace-context";
import { DETAIL_FORM_ID, DetailHeader, FormSection } from "../admin/detail-header";
import { withEdits } from "../admin/form-changes";
import { useDraft } from "../admin/use-draft";
import { useUnloadWarning } from "../admin/use-leave-guard";
import { DeleteChannel } from "./delete-channel";
import { keptDraftsOf, type KeptDraft } from "./kept-drafts";
import { useChannelForm } from "./use-channel-form";
import { changesOf, completeColor, completeLauncher, draftOf, draftProblems, type WidgetDraft } from "./widget-draft";
import { FIELD_NAMES, WidgetForm } from "./widget-form";
import { WidgetPreview } from "./widget-preview";
import { rich, t } from "../../texts/translate";

type Pane = "settings" | "preview";
const PANES = [
  { value: "settings", label: t`Settings` },
  { value: "preview", label: t`Preview` },
] as const;

const GROUPS = ["audience", "settings"] as const;

/** Returns a kept draft for the channel as it is now, so that saving it preserves what others have changed in the
 * meantime. */
const restoredDraft = (channel: WidgetChannel, kept: KeptDraft): WidgetDraft =>
  withEdits(draftOf(channel), draftOf(kept.channel), kept.draft, GROUPS);

/** Whether questions were added, removed or moved. */
const hasOtherQuestions = (one: WidgetDraft, other: WidgetDraft): boolean => {
  const keys = ({ settings }: WidgetDraft) => settings.contacts_form.custom_fields.map(({ key }) => key).join();
  return keys(one) !== keys(other);
};

interface WidgetPageProps {
  channel: WidgetChannel;
  onStored: (channel: WidgetChannel) => void;
}

export function WidgetPage({ channel, onStored }: WidgetPageProps) {
  const drafts = keptDraftsOf(useWorkspace());
  const { form, problems, setProblems, isBusy, save } = useChannelForm(channel, FIELD_NAMES, onStored);
  const { draft, setDraft, showStored } = useDraft<WidgetDraft>(() => {
    const kept = drafts.get(channel.channel_id);
    return kept === undefined ? draftOf(channel) : restoredDraft(channel, kept);
  }, GROUPS);
  /** The pane that a narrow screen shows. */
  const [pane, setPane] = useState<Pane>("settings");
  const changes = changesOf(channel, draft);
  const hasChanges = changes !== undefined || Object.keys(draftProblems(draft)).length > 0;

  useEffect(() => {
    if (hasChanges) drafts.set(channel.channel_id, { channel, draft });
    else drafts.delete(channel.channel_id);
  }, [draft, channel, hasChanges]);
  useUnloadWarning(hasChanges);

  const submit = async (event: Event) => {
    event.preventDefault();
    setPane("settings");
    const stored = await save(changes, draftProblems(draft));
    if (stored !== undefined) showStored(draftOf(stored));
  };
  const change = (changed: WidgetDraft) => {
    // Problems of questions are named by their position.
    if (hasOtherQuestions(draft, changed)) setProblems({});
    setDraft(changed);
  };
  const discard = () => {
    setDraft(draftOf(channel));
    setProblems({});
  };

  const { settings } = draft;
  const shown = {
    ...settings,
    color: completeColor(settings.color, channel.widget.color),
    color2: completeColor(settings.color2, channel.widget.color2) || null,
    launcher: completeLauncher(settings.launcher, channel.widget.launcher),
  };
  return (
    <div class={`detail-page shows-${pane}`}>
      <DetailHeader
        name={channel.name}
        list={{ name: t`All channels`, route: CHANNELS_ROUTE }}
        form={{ hasChanges, isBusy, onDiscard: discard }}
      >
        <Segments
          name="pane"
          label={t`What is shown`}
          value={pane}
          options={PANES}
          hidesLabel
          onChange={(value) => setPane(value)}
        />
      </DetailHeader>
      <div class="detail-settings scroll">
        <form ref={form} id={DETAIL_FORM_ID} noValidate onSubmit={(event) => void submit(event)}>
          <FormSection title={t`Add it to your site`}>
            <p class="quiet-text">
              {rich`Paste this tag into each page that shows the chat window, before ${(<code>{"</body>"}</code>)}.`}
            </p>
            <div class="code-line">
              <code>{channel.snippet}</code>
              <CopyButton text={channel.snippet} label={t`Copy the tag`} caption={t`Copy`} />
            </div>
          </FormSection>
          <WidgetForm
            draft={draft}
            storedHours={channel.business_hours}
            shownColors={shown}
            problems={problems}
            onChange={change}
          />
        </form>
        <DeleteChannel channel={channel} effect={t`The chat window disappears from your site.`} />
      </div>
      <WidgetPreview settings={shown} />
    </div>
  );
}
