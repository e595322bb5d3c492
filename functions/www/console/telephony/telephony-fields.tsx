/* The fields of the telephony settings. The ids of the controls are the field names in the service's errors. */

import { useEffect } from "preact/hooks";
import type { Telephony } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { Field, NUMBER_INPUT, SelectField, Switch, TextField, URL_INPUT } from "../../ui/form-fields";
import { FormSection } from "../admin/detail-header";
import type { DraftForm } from "../admin/draft-form";
import { useWorkspace } from "../workspace-context";
import { DEFAULT_API_URL, isTokenOutdated, NUMBERS, type TelephonyDraft } from "./telephony-draft";
import { t } from "../../texts/translate";

interface FieldsProps {
  stored: Telephony;
  form: DraftForm<TelephonyDraft>;
}

const KEPT = t`Leave it empty to keep the stored one, which is never shown.`;
const OTHER_API = t`A change of the account or of the API address needs the token, because the stored one is not sent elsewhere.`;

interface GatewayFieldsProps extends FieldsProps {
  createSecret: () => void;
}

export function GatewayFields({ stored, form, createSecret }: GatewayFieldsProps) {
  const { draft, problems, change } = form;
  const isStored = stored.telephony?.provider === "http";
  return (
    <>
      <TextField
        {...form.text("url")}
        label={t`Address of the gateway`}
        help={t`The service orders calls with POST requests to this address.`}
        input={URL_INPUT}
      />
      <Field
        id="signing_secret"
        label={t`Signing secret`}
        help={`${t`It signs the requests in both directions.`} ${isStored ? KEPT : t`Enter the same one in your gateway.`}`}
        problem={problems["signing_secret"]}
      >
        {(attributes) => (
          <div class="secret-field">
            <input
              {...attributes}
              class="input"
              autocomplete="off"
              spellcheck={false}
              dir="ltr"
              maxLength={255}
              placeholder="whsec_…"
              value={draft.signing_secret}
              onInput={(event) => change({ signing_secret: event.currentTarget.value })}
            />
            {draft.signing_secret === "" ? (
              <button type="button" class="btn" onClick={createSecret}>
                {t`Create`}
              </button>
            ) : (
              <CopyButton text={draft.signing_secret} label={t`Copy the signing secret`} />
            )}
          </div>
        )}
      </Field>
    </>
  );
}

export function TwilioFields({ stored, form }: FieldsProps) {
  const isStored = stored.telephony?.provider === "twilio";
  const code = { spellcheck: false, dir: "ltr", maxLength: 255 } as const;
  return (
    <>
      <TextField {...form.text("account_sid")} label={t`Account SID`} input={{ ...code, placeholder: "AC…" }} />
      <TextField
        {...form.text("auth_token")}
        label={t`Auth token`}
        help={isTokenOutdated(stored.telephony, form.draft) ? OTHER_API : isStored ? KEPT : undefined}
        input={{ ...code, type: "password", autocomplete: "new-password" }}
      />
      <TextField
        {...form.text("api_url")}
        label={t`API address (optional)`}
        help={t`Only for another region than the default one.`}
        input={{ ...URL_INPUT, placeholder: DEFAULT_API_URL }}
      />
    </>
  );
}

export function CallSection({ form }: Pick<FieldsProps, "form">) {
  const { channel_id: chosen } = form.draft;
  const { channels: list } = useWorkspace();
  useEffect(() => {
    // Load the list of channels. If loading fails, the stored channel is shown by its id.
    if (list.items.peek() === undefined) list.load().catch(() => {});
  }, []);
  const channels = (list.items.value ?? []).map(({ channel_id, name }) => ({ value: channel_id, label: name }));
  const isKnown = chosen === "" || channels.some(({ value }) => value === chosen);
  const options = [
    { value: "", label: t`Reject their calls` },
    ...(isKnown ? [] : [{ value: chosen, label: chosen }]),
    ...channels,
  ];
  return (
    <FormSection title={t`Calls`}>
      <TextField
        {...form.text("number")}
        label={t`Your number`}
        help={t`With its country code. It is shown to the people who are called, and numbers without a country code belong to its country.`}
        input={{ type: "tel", dir: "ltr", placeholder: "+31 20 123 4567", maxLength: 40 }}
      />
      <SelectField
        {...form.choice("channel_id")}
        label={t`Callers who are not known`}
        help={t`They become visitors of this channel, whose agents are called.`}
        options={options}
      />
      <Switch {...form.toggle("record")} label={t`Record calls`} help={t`Ask for consent where the law requires it.`} />
      <TextField
        {...form.text("ring_seconds")}
        label={t`Seconds for which a phone rings`}
        help={t`From 1 to ${NUMBERS.ring_seconds.max}.`}
        input={NUMBER_INPUT}
      />
      <TextField
        {...form.text("max_minutes")}
        label={t`Longest talk in minutes`}
        help={t`From 1 to ${NUMBERS.max_minutes.max}. A call reserves these minutes until it ends, so lower the number if the balance does not suffice for several calls at once.`}
        input={NUMBER_INPUT}
      />
    </FormSection>
  );
}

/** What strangers who ask for callbacks can cost the account. */
export function AllowanceSection({ form }: Pick<FieldsProps, "form">) {
  return (
    <FormSection title={t`Who may be called`}>
      <TextField
        {...form.text("countries")}
        label={t`Countries`}
        help={t`Two-letter codes, such as NL, BE. Empty for the country of your number. Premium-rate, shared-cost, personal and satellite numbers are never called.`}
        input={{ spellcheck: false, dir: "ltr", autocapitalize: "characters", placeholder: "NL, BE" }}
      />
      <TextField
        {...form.text("callbacks_per_number")}
        label={t`Callbacks to one number in a day`}
        help={t`Later requests of visitors are refused. Calls of agents are not counted.`}
        input={NUMBER_INPUT}
      />
      <TextField
        {...form.text("callbacks_per_day")}
        label={t`Callbacks in a day`}
        help={t`To all numbers together. A day ends at midnight UTC.`}
        input={NUMBER_INPUT}
      />
    </FormSection>
  );
}
