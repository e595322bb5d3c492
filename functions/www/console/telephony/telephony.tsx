/* The telephony provider of the account. */

import { useState } from "preact/hooks";
import type { Telephony as TelephonySettings } from "../../api/types";
import { Segments } from "../../ui/form-fields";
import { FormSection, PageHeader } from "../admin/detail-header";
import { LoadedDetail } from "../admin/detail-page";
import { RecordForm, useRecordForm, type DraftForm } from "../admin/draft-form";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useLoaded } from "../admin/use-loaded";
import { AGENTS_ROUTE, SETTINGS_ROUTE } from "../state/page/page-routes";
import { hrefOf } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { RemoveProvider } from "./remove-provider";
import {
  balanceText,
  changesOf,
  createSigningSecret,
  draftOf,
  draftProblems,
  type TelephonyDraft,
} from "./telephony-draft";
import { AllowanceSection, CallSection, GatewayFields, TwilioFields } from "./telephony-fields";
import { rich, t } from "../../texts/translate";

const FIELD_NAMES = [
  "url",
  "signing_secret",
  "account_sid",
  "auth_token",
  "api_url",
  "number",
  "channel_id",
  "ring_seconds",
  "max_minutes",
  "countries",
  "callbacks_per_number",
  "callbacks_per_day",
];
const PROVIDERS = [
  { value: "http", label: t`Own gateway` },
  { value: "twilio", label: "Twilio" },
] as const;

export function Telephony() {
  const { api } = useWorkspace();
  const loaded = useLoaded(() => api.get("/admin/telephony"));
  return (
    <LoadedDetail loaded={loaded} what={t`The telephony settings`} header={<PageHeader title={t`Telephony`} />}>
      {(stored) => <TelephonyForm stored={stored} onStored={loaded.setValue} />}
    </LoadedDetail>
  );
}

interface TelephonyFormProps {
  stored: TelephonySettings;
  onStored: (stored: TelephonySettings) => void;
}

function TelephonyForm({ stored, onStored }: TelephonyFormProps) {
  const { api } = useWorkspace();
  /** The signing secret that was last created here, and the stored one while it is shown. */
  const [createdSecret, setCreatedSecret] = useState<string>();
  const [storedSecret, setStoredSecret] = useState<string>();
  const isLocked = stored.telephony?.locked === true;
  const form = useRecordForm({
    stored,
    fields: FIELD_NAMES,
    draftOf: ({ telephony }) => draftOf(telephony),
    changesOf: ({ telephony }, draft) => changesOf(telephony, draft),
    check: (draft) => draftProblems(stored.telephony, draft),
    save: (changes) => api.patch("/admin/telephony", { body: changes }),
    onSaved: (saved, changes) => {
      onStored(saved);
      if (createdSecret !== undefined && changes.signing_secret === createdSecret) setStoredSecret(createdSecret);
    },
  });
  const createSecret = () => {
    const secret = createSigningSecret();
    setCreatedSecret(secret);
    form.change({ signing_secret: secret });
  };
  const showRemoved = () => {
    form.setDraft(draftOf(null));
    onStored({ ...stored, telephony: null });
  };
  return (
    <div class="detail-page">
      <PageHeader title={t`Telephony`} form={isLocked ? undefined : form.buttons} />
      <div class="detail-settings scroll">
        <BalanceSection minutes={stored.balance_minutes} />
        <RecordForm form={form}>
          {isLocked && (
            <p class="notice">{t`The operator of this service manages the telephony. Ask the operator for changes.`}</p>
          )}
          <fieldset class="plain-fieldset" disabled={isLocked}>
            <ProviderSection stored={stored} form={form} createSecret={createSecret} />
            <CallSection form={form} />
            <AllowanceSection form={form} />
          </fieldset>
        </RecordForm>
        {stored.telephony !== null && !isLocked && <RemoveProvider onRemoved={showRemoved} />}
      </div>
      {storedSecret !== undefined && (
        <ShownOnceDialog title={t`The signing secret is stored`} onClose={() => setStoredSecret(undefined)}>
          <p class="quiet-text">{t`It is shown only now. Enter it in your gateway.`}</p>
          <CopyField label={t`Signing secret`} name={t`the secret`} text={storedSecret} />
        </ShownOnceDialog>
      )}
    </div>
  );
}

function BalanceSection({ minutes }: { minutes: number }) {
  return (
    <FormSection title={t`Balance`}>
      <p class={minutes > 0 ? "quiet-text" : "notice bad"}>{balanceText(minutes)}</p>
      <p class="quiet-text">
        {rich`The operator of this service adds minutes. Incoming calls are free. The hours in which visitors may request a call are part of the ${(
          <a class="link" href={hrefOf(SETTINGS_ROUTE)}>
            {t`settings`}
          </a>
        )}, and the phone numbers of agents of their ${(
          <a class="link" href={hrefOf(AGENTS_ROUTE)}>
            {t`profiles`}
          </a>
        )}.`}
      </p>
    </FormSection>
  );
}

interface ProviderSectionProps {
  stored: TelephonySettings;
  form: DraftForm<TelephonyDraft>;
  createSecret: () => void;
}

function ProviderSection({ stored, form, createSecret }: ProviderSectionProps) {
  const { provider } = form.draft;
  return (
    <FormSection title={t`Provider`}>
      <Segments
        name="provider"
        label={t`Who makes the calls`}
        value={provider}
        options={PROVIDERS}
        onChange={(provider) => form.change({ provider })}
      />
      {provider === "http" ? (
        <GatewayFields stored={stored} form={form} createSecret={createSecret} />
      ) : (
        <TwilioFields stored={stored} form={form} />
      )}
      <CopyField label={t`Incoming URL`} name={t`the incoming URL`} text={stored.incoming_url} />
      <p class="quiet-text">
        {provider === "http"
          ? t`Your gateway reports incoming calls to this address.`
          : t`Enter this address as the voice URL of your number at Twilio (HTTP POST).`}
      </p>
    </FormSection>
  );
}
