/* The telephony provider of the account. The ids of the controls are the field names in the service's errors. */

import { useEffect, useState } from "preact/hooks";
import type { Telephony as TelephonySettings } from "../../api/types";
import { CopyButton } from "../../ui/copy-button";
import { Dialog } from "../../ui/dialog";
import { Field, Segments, SelectField, Switch, TextField, URL_INPUT } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { DETAIL_FORM_ID, FormButtons, FormProblem, FormSection } from "../admin/detail-header";
import { LoadedPage } from "../admin/list-page";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useDraft } from "../admin/use-draft";
import { useLeaveGuard } from "../admin/use-leave-guard";
import { useLoaded } from "../admin/use-loaded";
import { useSettingsForm, type Problems } from "../admin/use-settings-form";
import { AGENTS_ROUTE, SETTINGS_ROUTE } from "../state/page-routes";
import { hrefOf } from "../state/route";
import { errorText } from "../state/error-text";
import { useWorkspace } from "../workspace-context";
import {
  balanceText,
  changesOf,
  createSigningSecret,
  DEFAULT_API_URL,
  draftOf,
  draftProblems,
  isTokenOutdated,
  NUMBERS,
  type TelephonyDraft,
} from "./telephony-draft";

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
  { value: "http", label: "Own gateway" },
  { value: "twilio", label: "Twilio" },
] as const;

export function Telephony() {
  const { api } = useWorkspace();
  const loaded = useLoaded(() => api.get("/admin/telephony"));
  if (loaded.value !== undefined) return <TelephonyForm stored={loaded.value} onStored={loaded.setValue} />;
  return (
    <div class="detail-page">
      <TelephonyHeader />
      <div class="scroll">
        <LoadedPage loaded={loaded} what="The telephony settings">
          {() => null}
        </LoadedPage>
      </div>
    </div>
  );
}

function TelephonyHeader({
  form,
}: {
  form?: { hasChanges: boolean; isBusy: boolean; onDiscard: () => void } | undefined;
}) {
  return (
    <header class="detail-header settings-header">
      <h2>Telephony</h2>
      <span class="grow" />
      {form !== undefined && <FormButtons {...form} />}
    </header>
  );
}

interface TelephonyFormProps {
  stored: TelephonySettings;
  onStored: (stored: TelephonySettings) => void;
}

function TelephonyForm({ stored, onStored }: TelephonyFormProps) {
  const { api } = useWorkspace();
  const { form, problems, setProblems, isBusy, send } = useSettingsForm(FIELD_NAMES);
  const { draft, setDraft, change, showStored } = useDraft(() => draftOf(stored.telephony));
  const [isDeleting, setDeleting] = useState(false);
  /** The signing secret that was last created here, and the stored one while it is shown. */
  const [createdSecret, setCreatedSecret] = useState<string>();
  const [storedSecret, setStoredSecret] = useState<string>();
  const changes = changesOf(stored.telephony, draft);
  const hasChanges = changes !== undefined;
  const isLocked = stored.telephony?.locked === true;
  useLeaveGuard(hasChanges);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (changes === undefined) return;
    const response = await send(draftProblems(stored.telephony, draft), () =>
      api.patch("/admin/telephony", { body: changes }),
    );
    if (response === undefined) return;
    onStored(response);
    showStored(draftOf(response.telephony));
    if (createdSecret !== undefined && changes.signing_secret === createdSecret) setStoredSecret(createdSecret);
    toast("Saved. It applies within ten seconds.");
  };
  const discard = () => {
    setDraft(draftOf(stored.telephony));
    setProblems({});
  };
  return (
    <div class="detail-page">
      <TelephonyHeader form={isLocked ? undefined : { hasChanges, isBusy, onDiscard: discard }} />
      <div class="detail-settings scroll">
        <FormSection title="Balance">
          <p class={stored.balance_minutes > 0 ? "quiet-text" : "notice bad"}>{balanceText(stored.balance_minutes)}</p>
          <p class="quiet-text">
            The operator of this service adds minutes. Incoming calls are free. The hours in which visitors may request
            a call are part of the{" "}
            <a class="link" href={hrefOf(SETTINGS_ROUTE)}>
              settings
            </a>
            , and the phone numbers of agents of their{" "}
            <a class="link" href={hrefOf(AGENTS_ROUTE)}>
              profiles
            </a>
            .
          </p>
        </FormSection>
        <form ref={form} id={DETAIL_FORM_ID} noValidate onSubmit={(event) => void submit(event)}>
          <FormProblem text={problems[""]} />
          {isLocked && (
            <p class="notice">The operator of this service manages the telephony. Ask the operator for changes.</p>
          )}
          <fieldset class="plain-fieldset" disabled={isLocked}>
            <FormSection title="Provider">
              <Segments
                name="provider"
                label="Who makes the calls"
                value={draft.provider}
                options={PROVIDERS}
                onChange={(provider) => change({ provider })}
              />
              {draft.provider === "http" ? (
                <GatewayFields
                  stored={stored}
                  draft={draft}
                  problems={problems}
                  change={change}
                  createSecret={() => {
                    const secret = createSigningSecret();
                    setCreatedSecret(secret);
                    change({ signing_secret: secret });
                  }}
                />
              ) : (
                <TwilioFields stored={stored} draft={draft} problems={problems} change={change} />
              )}
              <CopyField label="Incoming URL" name="the incoming URL" text={stored.incoming_url} />
              <p class="quiet-text">
                {draft.provider === "http"
                  ? "Your gateway reports incoming calls to this address."
                  : "Enter this address as the voice URL of your number at Twilio (HTTP POST)."}
              </p>
            </FormSection>
            <CallSection stored={stored} draft={draft} problems={problems} change={change} />
            <AllowanceSection stored={stored} draft={draft} problems={problems} change={change} />
          </fieldset>
        </form>
        {stored.telephony !== null && !isLocked && (
          <FormSection title="Remove">
            <p class="quiet-text">Without a provider, nobody can call or be called.</p>
            <div>
              <button type="button" class="btn line bad" onClick={() => setDeleting(true)}>
                <Icon name="trash-2" />
                Remove the provider…
              </button>
            </div>
          </FormSection>
        )}
      </div>
      {isDeleting && (
        <RemoveDialog
          onClose={() => setDeleting(false)}
          onRemoved={() => {
            setDeleting(false);
            setDraft(draftOf(null));
            onStored({ ...stored, telephony: null });
          }}
        />
      )}
      {storedSecret !== undefined && (
        <ShownOnceDialog title="The signing secret is stored" onClose={() => setStoredSecret(undefined)}>
          <p class="quiet-text">It is shown only now. Enter it in your gateway.</p>
          <CopyField label="Signing secret" name="the secret" text={storedSecret} />
        </ShownOnceDialog>
      )}
    </div>
  );
}

interface FieldsProps {
  stored: TelephonySettings;
  draft: TelephonyDraft;
  problems: Problems;
  change: (changes: Partial<TelephonyDraft>) => void;
}

const KEPT = "Leave it empty to keep the stored one, which is never shown.";
const OTHER_API =
  "A change of the account or of the API address needs the token, because the stored one is not sent elsewhere.";

function GatewayFields({ stored, draft, problems, change, createSecret }: FieldsProps & { createSecret: () => void }) {
  const isStored = stored.telephony?.provider === "http";
  return (
    <>
      <TextField
        id="url"
        label="Address of the gateway"
        help="The service orders calls with POST requests to this address."
        problem={problems["url"]}
        value={draft.url}
        onInput={(url) => change({ url })}
        input={URL_INPUT}
      />
      <Field
        id="signing_secret"
        label="Signing secret"
        help={`It signs the requests in both directions. ${isStored ? KEPT : "Enter the same one in your gateway."}`}
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
                Create
              </button>
            ) : (
              <CopyButton text={draft.signing_secret} label="Copy the signing secret" />
            )}
          </div>
        )}
      </Field>
    </>
  );
}

function TwilioFields({ stored, draft, problems, change }: FieldsProps) {
  const isStored = stored.telephony?.provider === "twilio";
  const code = { spellcheck: false, dir: "ltr", maxLength: 255 } as const;
  return (
    <>
      <TextField
        id="account_sid"
        label="Account SID"
        problem={problems["account_sid"]}
        value={draft.account_sid}
        onInput={(account_sid) => change({ account_sid })}
        input={{ ...code, placeholder: "AC…" }}
      />
      <TextField
        id="auth_token"
        label="Auth token"
        help={isTokenOutdated(stored.telephony, draft) ? OTHER_API : isStored ? KEPT : undefined}
        problem={problems["auth_token"]}
        value={draft.auth_token}
        onInput={(auth_token) => change({ auth_token })}
        input={{ ...code, type: "password", autocomplete: "new-password" }}
      />
      <TextField
        id="api_url"
        label="API address (optional)"
        help="Only for another region than the default one."
        problem={problems["api_url"]}
        value={draft.api_url}
        onInput={(api_url) => change({ api_url })}
        input={{ ...URL_INPUT, placeholder: DEFAULT_API_URL }}
      />
    </>
  );
}

function CallSection({ draft, problems, change }: FieldsProps) {
  const { channels: list } = useWorkspace();
  useEffect(() => {
    // Load the list of channels. If loading fails, the stored channel is shown by its id.
    if (list.items.peek() === undefined) list.load().catch(() => {});
  }, []);
  const channels = (list.items.value ?? []).map(({ channel_id, name }) => ({ value: channel_id, label: name }));
  const isKnown = draft.channel_id === "" || channels.some(({ value }) => value === draft.channel_id);
  const options = [
    { value: "", label: "Reject their calls" },
    ...(isKnown ? [] : [{ value: draft.channel_id, label: draft.channel_id }]),
    ...channels,
  ];
  return (
    <FormSection title="Calls">
      <TextField
        id="number"
        label="Your number"
        help="With its country code. It is shown to the people who are called, and numbers without a country code belong to its country."
        problem={problems["number"]}
        value={draft.number}
        onInput={(number) => change({ number })}
        input={{ type: "tel", dir: "ltr", placeholder: "+31 20 123 4567", maxLength: 40 }}
      />
      <SelectField
        id="channel_id"
        label="Callers who are not known"
        help="They become visitors of this channel, whose agents are called."
        problem={problems["channel_id"]}
        value={draft.channel_id}
        options={options}
        onChange={(channel_id) => change({ channel_id })}
      />
      <Switch
        label="Record calls"
        help="Ask for consent where the law requires it."
        isOn={draft.record}
        onChange={(record) => change({ record })}
      />
      <TextField
        id="ring_seconds"
        label="Seconds for which a phone rings"
        help={`From 1 to ${NUMBERS.ring_seconds.max}.`}
        problem={problems["ring_seconds"]}
        value={draft.ring_seconds}
        onInput={(ring_seconds) => change({ ring_seconds })}
        input={{ inputmode: "numeric" }}
      />
      <TextField
        id="max_minutes"
        label="Longest talk in minutes"
        help={`From 1 to ${NUMBERS.max_minutes.max}. A call reserves these minutes until it ends, so lower the number if the balance does not suffice for several calls at once.`}
        problem={problems["max_minutes"]}
        value={draft.max_minutes}
        onInput={(max_minutes) => change({ max_minutes })}
        input={{ inputmode: "numeric" }}
      />
    </FormSection>
  );
}

/** What strangers who ask for callbacks can cost the account. */
function AllowanceSection({ draft, problems, change }: FieldsProps) {
  const numeric = { inputmode: "numeric" } as const;
  return (
    <FormSection title="Who may be called">
      <TextField
        id="countries"
        label="Countries"
        help="Two-letter codes, such as NL, BE. Empty for the country of your number. Premium-rate, shared-cost, personal and satellite numbers are never called."
        problem={problems["countries"]}
        value={draft.countries}
        onInput={(countries) => change({ countries })}
        input={{ spellcheck: false, dir: "ltr", autocapitalize: "characters", placeholder: "NL, BE" }}
      />
      <TextField
        id="callbacks_per_number"
        label="Callbacks to one number in a day"
        help="Later requests of visitors are refused. Calls of agents are not counted."
        problem={problems["callbacks_per_number"]}
        value={draft.callbacks_per_number}
        onInput={(callbacks_per_number) => change({ callbacks_per_number })}
        input={numeric}
      />
      <TextField
        id="callbacks_per_day"
        label="Callbacks in a day"
        help="To all numbers together. A day ends at midnight UTC."
        problem={problems["callbacks_per_day"]}
        value={draft.callbacks_per_day}
        onInput={(callbacks_per_day) => change({ callbacks_per_day })}
        input={numeric}
      />
    </FormSection>
  );
}

function RemoveDialog({ onClose, onRemoved }: { onClose: () => void; onRemoved: () => void }) {
  const { api } = useWorkspace();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const remove = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      await api.delete("/admin/telephony");
      toast("The provider was removed.");
      onRemoved();
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title="Remove the telephony provider?" onClose={onClose}>
      <div class="body">
        <p>Its credentials are deleted. Calls in progress are no longer reported and end by their time limits.</p>
        {problem !== undefined && (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <footer>
          <button type="button" class="btn line" data-autofocus onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="btn danger" aria-disabled={isBusy} onClick={() => void remove()}>
            {isBusy ? "Removing…" : "Remove"}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
