import { NUMBER_INPUT, Switch, TextField } from "../../ui/form-fields";
import type { DraftForm } from "../admin/draft-form";
import type { BotDraft } from "./bot-draft";
import { t } from "../../texts/translate";

const DEFAULT_QUIET_SECONDS = "3";

/** When the bot gets the messages of a visitor who writes several of them in a row. */
export function TurnFields({ form }: { form: DraftForm<BotDraft> }) {
  const { draft, change } = form;
  return (
    <>
      <Switch
        label={t`Wait until the visitor has finished writing`}
        help={t`If off, the bot gets each message at once, and may answer the first of several too early.`}
        isOn={draft.quiet_ms !== undefined}
        onChange={(isOn) => change({ quiet_ms: isOn ? DEFAULT_QUIET_SECONDS : undefined })}
      />
      {draft.quiet_ms !== undefined && (
        <>
          <TextField
            {...form.text("quiet_ms")}
            label={t`Seconds without a message`}
            help={t`Up to 10. Then the bot gets what the visitor has written as one event. Typing counts as writing.`}
            input={NUMBER_INPUT}
          />
          <TextField
            {...form.text("quiet_max_ms")}
            label={t`Longest wait in seconds`}
            help={t`From 1 to 60, even if the visitor goes on.`}
            input={NUMBER_INPUT}
          />
        </>
      )}
    </>
  );
}
