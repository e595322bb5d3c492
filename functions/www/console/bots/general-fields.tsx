import { NAME_INPUT, NUMBER_INPUT, Switch, TextField } from "../../ui/form-fields";
import { FormSection } from "../admin/detail-header";
import type { DraftForm } from "../admin/draft-form";
import { BotChannels } from "./bot-channels";
import type { BotDraft } from "./bot-draft";
import { TurnFields } from "./turn-fields";
import { t } from "../../texts/translate";

const DEFAULT_ANSWER_SECONDS = "120";
const DEFAULT_AGENT_WAIT_SECONDS = "60";

/** The name and the channels of a bot, and the time limits of its chats. */
export function GeneralFields({ form }: { form: DraftForm<BotDraft> }) {
  const { draft, change } = form;
  return (
    <FormSection title={t`General`}>
      <TextField
        {...form.text("name")}
        label={t`Name`}
        help={t`Visitors see it beside the bot's messages.`}
        input={NAME_INPUT}
      />
      <BotChannels
        chosen={draft.channel_ids}
        problem={form.problems["channel_ids"]}
        onChange={(channel_ids) => change({ channel_ids })}
      />
      <Switch
        label={t`Hand over to agents if the bot does not answer`}
        help={t`If off, a visitor may wait for the bot without limit.`}
        isOn={draft.answer_within !== undefined}
        onChange={(isOn) => change({ answer_within: isOn ? DEFAULT_ANSWER_SECONDS : undefined })}
      />
      {draft.answer_within !== undefined && (
        <TextField
          {...form.text("answer_within")}
          label={t`Seconds until then`}
          help={t`From 1 to 900, after the visitor's message was accepted.`}
          input={NUMBER_INPUT}
        />
      )}
      <Switch
        label={t`Give chats back to the bot if no agent accepts them`}
        help={t`If off, a chat that the bot has handed over waits for the agents without limit.`}
        isOn={draft.agent_wait_seconds !== undefined}
        onChange={(isOn) => change({ agent_wait_seconds: isOn ? DEFAULT_AGENT_WAIT_SECONDS : undefined })}
      />
      {draft.agent_wait_seconds !== undefined && (
        <TextField
          {...form.text("agent_wait_seconds")}
          label={t`Seconds to accept a chat`}
          help={t`From 10 to 900, after the bot has invited the agents.`}
          input={NUMBER_INPUT}
        />
      )}
      <TurnFields form={form} />
    </FormSection>
  );
}
