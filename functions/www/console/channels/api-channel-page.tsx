/* The page of a channel that uses the channel API. */

import type { ApiChannel, ApiChannelDetails } from "../../api/types";
import { NAME_INPUT, NUMBER_INPUT, Segments, Switch, TextField, URL_INPUT } from "../../ui/form-fields";
import { BusinessHoursFields } from "../admin/business-hours";
import { HOURS_FIELDS } from "../admin/business-hours-draft";
import { DetailHeader, FormSection } from "../admin/detail-header";
import { RecordForm, useRecordForm, type DraftForm } from "../admin/draft-form";
import { LateDeliveryFields, OutageNotice } from "../admin/late-delivery";
import { integratorUrlHelp, PULL_HELP, PULL_LABEL } from "../admin/receiver-url";
import { SigningSecret } from "../admin/signing-secret";
import { CHANNELS_ROUTE } from "../state/page/page-routes";
import { useWorkspace } from "../workspace-context";
import { ConnectSection, IntegratorTest, RejectedMessages } from "./api-channel-connection";
import { changesOf, draftOf, problemsOfDraft, type ApiDraft } from "./api-channel-draft";
import { AudienceFields, HOURS_HELP } from "./audience-fields";
import { DeleteChannel } from "./delete-channel";
import { t } from "../../texts/translate";

const VALIDATIONS = [
  { value: "strict", label: t`Strict` },
  { value: "lenient", label: t`Lenient` },
] as const;
const VALIDATION_HELP: Record<ApiChannel["validation"], string> = {
  strict: t`A message with a wrong field is rejected with the name of the field, and only a 200 with result ok counts as delivered. Use it for new integrations.`,
  lenient: t`Wrong optional fields are ignored, and any 2xx counts as delivered. Use it for an integration that already works with another service.`,
};

interface ApiChannelPageProps {
  channel: ApiChannelDetails;
  onStored: (channel: ApiChannelDetails) => void;
}

export function ApiChannelPage({ channel, onStored }: ApiChannelPageProps) {
  const { api, channels } = useWorkspace();
  const path = { channel_id: channel.channel_id };
  const form = useRecordForm({
    stored: channel,
    fields: ["name", "integrator_url", "hidden_error_codes", "rehearsal_percent", ...HOURS_FIELDS],
    draftOf,
    changesOf,
    check: problemsOfDraft,
    save: async (changes) => (await api.patch("/admin/channels/{channel_id}", { path, body: changes })) as ApiChannel,
    onSaved: (stored) => {
      channels.put(stored);
      // The response to saving does not contain the rejected messages and the old addresses.
      onStored({ ...channel, ...stored });
    },
  });
  return (
    <div class="detail-page">
      <DetailHeader name={channel.name} list={{ name: t`All channels`, route: CHANNELS_ROUTE }} form={form.buttons} />
      <div class="detail-settings scroll">
        <OutageNotice
          outage={{ target: "channel", receiver_id: channel.channel_id, status: channel.outage }}
          onResumed={() => onStored({ ...channel, outage: "none" })}
        />
        <RecordForm form={form}>
          <GeneralFields form={form} />
          <ServerFields form={form} />
          <FormSection title={t`Business hours`}>
            <BusinessHoursFields
              hours={form.draft.business_hours}
              stored={channel.business_hours}
              withoutHours={HOURS_HELP}
              problems={form.problems}
              onChange={(business_hours) => form.change({ business_hours })}
            />
          </FormSection>
        </RecordForm>
        {!channel.pull && <IntegratorTest channelId={channel.channel_id} hasChanges={form.hasChanges} />}
        <ConnectSection channelId={channel.channel_id} oldEndpoints={channel.old_endpoints} />
        <SigningSecret
          rotate={(keep_old_seconds) =>
            api.post("/admin/channels/{channel_id}/signing-secret/rotate", { path, body: { keep_old_seconds } })
          }
        />
        <RejectedMessages rejected={channel.refused} />
        <DeleteChannel channel={channel} effect={t`Messages of visitors are no longer accepted.`} />
      </div>
    </div>
  );
}

function GeneralFields({ form }: { form: DraftForm<ApiDraft> }) {
  const { agent_ids, department_ids } = form.draft;
  return (
    <FormSection title={t`General`}>
      <TextField {...form.text("name")} label={t`Name`} help={t`Agents see it beside each chat.`} input={NAME_INPUT} />
      <Switch
        {...form.toggle("enabled")}
        label={t`Accepts messages of visitors`}
        help={t`If off, open chats stay open and agents' replies are delivered.`}
      />
      <AudienceFields audience={{ agent_ids, department_ids }} onChange={form.change} />
    </FormSection>
  );
}

/** How the channel's messages are sent to the integrator's server. */
function ServerFields({ form }: { form: DraftForm<ApiDraft> }) {
  const { pull, validation } = form.draft;
  return (
    <FormSection title={t`Your server`}>
      <Switch {...form.toggle("pull")} label={PULL_LABEL} help={PULL_HELP} />
      {!pull && <AddressFields form={form} />}
      <div class="field">
        <Segments
          name="validation"
          label={t`Validation`}
          value={validation}
          options={VALIDATIONS}
          onChange={(validation) => form.change({ validation })}
        />
        <span class="help">{VALIDATION_HELP[validation]}</span>
      </div>
      <Switch
        {...form.toggle("shows_markdown")}
        label={t`Shows formatted text`}
        help={t`If off, a bot's formatted message is sent as its plain text. Without a plain text, nothing is sent.`}
      />
      <Switch
        {...form.toggle("shows_buttons")}
        label={t`Shows buttons`}
        help={t`If off, a bot's buttons are sent as their plain text. Without a plain text, nothing is sent.`}
      />
      {!pull && <LateDeliveryFields draft={form.draft} change={form.change} what={t`Messages`} />}
      <TextField
        {...form.text("hidden_error_codes")}
        label={t`Hidden error codes (optional)`}
        help={t`Agents do not see the words of your server's errors with these codes.`}
        input={{ placeholder: "410, 423" }}
      />
      {!pull && (
        <TextField
          {...form.text("rehearsal_percent")}
          label={t`Rehearsal: percentage of messages with a fault`}
          help={t`Their first attempt is left out, repeated, wrongly signed or encoded in another way, as happens in production now and then. No message is lost. 0 for none.`}
          input={NUMBER_INPUT}
        />
      )}
    </FormSection>
  );
}

function AddressFields({ form }: { form: DraftForm<ApiDraft> }) {
  const { integrator_url, append_channel_id } = form.draft;
  return (
    <>
      <TextField
        {...form.text("integrator_url")}
        label={t`Address of your server`}
        help={integratorUrlHelp(integrator_url, append_channel_id)}
        input={URL_INPUT}
      />
      <Switch {...form.toggle("append_channel_id")} label={t`Append the channel's id to the address`} />
      <Switch
        {...form.toggle("chunked")}
        label={t`Chunked requests`}
        help={t`For servers that expect chunked transfer encoding.`}
      />
    </>
  );
}
