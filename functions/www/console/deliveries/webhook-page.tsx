/* The page of one webhook: its address and events, a test, its signing secret and its public keys. */

import { ApiError } from "../../api/client";
import type { Webhook, WebhookEventName } from "../../api/types";
import { Switch, TextField, URL_INPUT } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { DeleteByName } from "../admin/delete-by-name";
import { deliveryTargetOf, TARGETS } from "../admin/delivery-targets";
import { DetailHeader, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { RecordForm, useRecordForm } from "../admin/draft-form";
import { EventTest } from "../admin/event-test";
import { changedFields } from "../admin/form-changes";
import { LateDeliveryFields, OutageNotice } from "../admin/late-delivery";
import { SigningSecret } from "../admin/signing-secret";
import { useLoaded } from "../admin/use-loaded";
import { deliveriesRoute, WEBHOOKS_ROUTE } from "../state/page/page-routes";
import { hrefOf, navigate } from "../state/page/route";
import { useWorkspace } from "../workspace-context";
import { webhookName } from "./log-filter";
import { PublicKeys } from "./public-keys";
import { EventFields, WEBHOOK_EVENTS } from "./webhook-events";
import { ADDRESS_INPUT, ADDRESSES, PULL_HELP, roleHelp, shortName } from "./webhook-target";
import { t } from "../../texts/translate";

const LIST = { name: t`All webhooks`, route: WEBHOOKS_ROUTE };

export function WebhookPage({ webhookId }: { webhookId: string }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(async () => {
    const { webhooks, aws_external_id } = await api.get("/admin/settings");
    const webhook = webhooks.find(({ webhook_id }) => webhook_id === webhookId);
    if (webhook === undefined) throw new ApiError(404, "not_found", "the webhook does not exist", undefined, undefined);
    return { webhook, externalId: aws_external_id };
  });
  return (
    <DetailPage loaded={loaded} what={t`The webhook`} list={LIST}>
      {({ webhook, externalId }) => (
        <WebhookForm
          webhook={webhook}
          externalId={externalId}
          onStored={(stored) => loaded.setValue({ webhook: stored, externalId })}
        />
      )}
    </DetailPage>
  );
}

type WebhookDraft = Pick<
  Webhook,
  "events" | "late_delivery" | "strict_order" | "format" | "body" | "ed25519_signature"
> & {
  url: string;
  rating_wait_seconds: string;
  role_arn: string;
};
const draftOf = ({
  url,
  role_arn,
  events,
  late_delivery,
  strict_order,
  format,
  body,
  rating_wait_seconds,
  ed25519_signature,
}: Webhook): WebhookDraft => ({
  url: url ?? "",
  role_arn: role_arn ?? "",
  events,
  late_delivery,
  strict_order,
  format,
  body,
  rating_wait_seconds: String(rating_wait_seconds),
  ed25519_signature,
});

/** The API takes a number. What is not a number is sent as it is, so that the response names the field. */
const withNumber = ({ rating_wait_seconds: seconds, ...changes }: Partial<WebhookDraft>) =>
  seconds === undefined
    ? changes
    : {
        ...changes,
        rating_wait_seconds: /^\d+$/.test(seconds.trim()) ? Number(seconds) : (seconds as unknown as number),
      };

interface WebhookFormProps {
  webhook: Webhook;
  externalId: string;
  onStored: (webhook: Webhook) => void;
}

function WebhookForm({ webhook, externalId, onStored }: WebhookFormProps) {
  const { api } = useWorkspace();
  const path = { webhook_id: webhook.webhook_id };
  const form = useRecordForm({
    stored: webhook,
    fields: ["url", "role_arn", "events", "rating_wait_seconds"],
    draftOf,
    changesOf: (stored, draft) => {
      const typed = { ...draft, url: draft.url.trim(), role_arn: draft.role_arn.trim() };
      const changes = changedFields(draftOf(stored), typed);
      return changes === undefined ? undefined : withNumber(changes);
    },
    save: (changes) => api.patch("/admin/settings/webhooks/{webhook_id}", { path, body: changes }),
    onSaved: onStored,
  });
  const { target } = webhook;
  const [isServer, isFetched] = [target === "server", target === "pull"];
  const remove = async () => {
    await api.delete("/admin/settings/webhooks/{webhook_id}", { path });
    navigate(WEBHOOKS_ROUTE, true);
    toast(t`The webhook is deleted.`);
  };
  return (
    <div class="detail-page">
      <DetailHeader name={webhookName(webhook)} list={LIST} form={form.buttons} />
      <div class="detail-settings scroll">
        <OutageNotice
          outage={{ target: deliveryTargetOf(webhook), receiver_id: webhook.webhook_id, status: webhook.outage }}
          onResumed={() => onStored({ ...webhook, outage: "none" })}
        />
        <RecordForm form={form}>
          <FormSection title={t`General`}>
            {target === "pull" ? (
              <p class="quiet-text">{PULL_HELP}</p>
            ) : (
              <TextField
                {...form.text("url")}
                label={ADDRESSES[target].label}
                help={ADDRESSES[target].help}
                input={isServer ? URL_INPUT : ADDRESS_INPUT}
              />
            )}
            {!isServer && !isFetched && (
              <TextField
                {...form.text("role_arn")}
                label={t`ARN of the role`}
                help={roleHelp(externalId)}
                input={ADDRESS_INPUT}
              />
            )}
            <EventFields
              events={form.draft.events}
              problem={form.problems["events"]}
              onChange={(events) => form.change({ events })}
            />
            {!isFetched && <LateDeliveryFields draft={form.draft} change={form.change} what={t`Events`} />}
            <Switch
              label={t`Send CloudEvents`}
              help={t`Each event is wrapped into the JSON format of CloudEvents 1.0.`}
              isOn={form.draft.format === "cloudevents"}
              onChange={(isOn) => form.change({ format: isOn ? "cloudevents" : "json" })}
            />
            <Switch
              label={t`Leave out personal data`}
              help={t`Events then say what has happened in which chat, without names, texts and contact details.`}
              isOn={form.draft.body === "thin"}
              onChange={(isOn) => form.change({ body: isOn ? "thin" : "full" })}
            />
            <TextField
              {...form.text("rating_wait_seconds")}
              label={t`Wait for the rating (seconds)`}
              help={t`chat_finished is sent so many seconds after the end of the chat, with the rating that the visitor has given until then. At most 600.`}
              input={{ inputmode: "numeric" }}
            />
            {(isServer || isFetched) && (
              <Switch
                label={t`Sign with a key pair, too (Ed25519)`}
                help={t`Your server can then verify events with a public key, and needs no secret for that.`}
                isOn={form.draft.ed25519_signature}
                onChange={(ed25519_signature) => form.change({ ed25519_signature })}
              />
            )}
          </FormSection>
        </RecordForm>
        <FormSection title={t`Deliveries`}>
          <div>
            <a class="btn line" href={hrefOf(deliveriesRoute(`state=all&target=${deliveryTargetOf(webhook)}`))}>
              <Icon name="send-horizontal" />
              {t`Show the deliveries ${TARGETS[deliveryTargetOf(webhook)].to}`}
            </a>
          </div>
        </FormSection>
        {!isFetched && (
          <EventTest
            events={TEST_EVENTS}
            initial="test"
            help={t`Sent at once with sample data, like a real event. It does not appear among the deliveries.`}
            hasChanges={form.hasChanges}
            isServer={isServer}
            send={(event, clause) =>
              api.post("/admin/settings/webhooks/{webhook_id}/test", { path, body: { event, clause } })
            }
          />
        )}
        {(isServer || isFetched) && (
          <SigningSecret
            isFetched={isFetched}
            rotate={async (keep_old_seconds) => {
              const body = { keep_old_seconds };
              const rotated = await api.post("/admin/settings/webhooks/{webhook_id}/rotate", { path, body });
              const { signing_secret, pull_url, ...changed } = rotated;
              onStored(changed);
              return { signing_secret, pull_url };
            }}
          />
        )}
        <PublicKeys keys={webhook.public_keys} />
        <DeleteByName
          thing={t`the webhook`}
          name={shortName(webhook)}
          id={webhook.webhook_id}
          effect={t`Nothing is sent there any more. Deliveries stay in the log.`}
          remove={remove}
        />
      </div>
    </div>
  );
}

const TEST_EVENTS: readonly { value: WebhookEventName | "test"; label: string }[] = [
  { value: "test", label: t`test (no data)` },
  ...WEBHOOK_EVENTS.map(({ name }) => ({ value: name, label: name })),
];
