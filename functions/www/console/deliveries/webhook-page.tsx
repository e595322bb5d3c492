/* The page of one webhook: its address and events, a test, and its signing secret. */

import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { Webhook, WebhookEventName } from "../../api/types";
import { SelectField, TextField, URL_INPUT } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { toast } from "../../ui/toast";
import { DeleteByName } from "../admin/delete-by-name";
import { DETAIL_FORM_ID, DetailHeader, FormProblem, FormSection } from "../admin/detail-header";
import { DetailPage } from "../admin/detail-page";
import { differences } from "../admin/form-changes";
import { ReceiverTest } from "../admin/receiver-test";
import { SigningSecret } from "../admin/signing-secret";
import { useDraft } from "../admin/use-draft";
import { useLeaveGuard } from "../admin/use-leave-guard";
import { useLoaded } from "../admin/use-loaded";
import { useSettingsForm } from "../admin/use-settings-form";
import { deliveriesRoute, WEBHOOKS_ROUTE } from "../state/page-routes";
import { hrefOf, navigate } from "../state/route";
import { useWorkspace } from "../workspace-context";
import { withoutScheme } from "./log-filter";
import { EventFields, WEBHOOK_EVENTS } from "./webhook-events";

const LIST = { name: "All webhooks", route: WEBHOOKS_ROUTE };

export function WebhookPage({ webhookId }: { webhookId: string }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(async () => {
    const { webhooks } = await api.get("/admin/settings");
    const webhook = webhooks.find(({ webhook_id }) => webhook_id === webhookId);
    if (webhook === undefined) throw new ApiError(404, "not_found", "the webhook does not exist", undefined, undefined);
    return webhook;
  });
  return (
    <DetailPage loaded={loaded} what="The webhook" list={LIST}>
      {(webhook) => <WebhookForm webhook={webhook} onStored={loaded.setValue} />}
    </DetailPage>
  );
}

type WebhookDraft = Pick<Webhook, "url" | "events">;
const draftOf = ({ url, events }: Webhook): WebhookDraft => ({ url, events });

function WebhookForm({ webhook, onStored }: { webhook: Webhook; onStored: (webhook: Webhook) => void }) {
  const { api } = useWorkspace();
  const { form, problems, setProblems, isBusy, send } = useSettingsForm(["url", "events"]);
  const { draft, setDraft, change, showStored } = useDraft(() => draftOf(webhook));
  const path = { webhook_id: webhook.webhook_id };
  const changes = differences(draftOf(webhook), { ...draft, url: draft.url.trim() });
  const hasChanges = Object.keys(changes).length > 0;
  useLeaveGuard(hasChanges);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (!hasChanges) return;
    const stored = await send({}, () => api.patch("/admin/settings/webhooks/{webhook_id}", { path, body: changes }));
    if (stored === undefined) return;
    onStored(stored);
    showStored(draftOf(stored));
    toast("Saved. It applies within ten seconds.");
  };
  const discard = () => {
    setDraft(draftOf(webhook));
    setProblems({});
  };
  const remove = async () => {
    await api.delete("/admin/settings/webhooks/{webhook_id}", { path });
    navigate(WEBHOOKS_ROUTE, true);
    toast("The webhook is deleted.");
  };
  const name = withoutScheme(webhook.url);
  return (
    <div class="detail-page">
      <DetailHeader name={name} list={LIST} form={{ hasChanges, isBusy, onDiscard: discard }} />
      <div class="detail-settings scroll">
        <form ref={form} id={DETAIL_FORM_ID} noValidate onSubmit={(event) => void submit(event)}>
          <FormProblem text={problems[""]} />
          <FormSection title="General">
            <TextField
              id="url"
              label="Address of your server"
              help="Each event is sent there as a signed POST request."
              problem={problems["url"]}
              value={draft.url}
              onInput={(url) => change({ url })}
              input={URL_INPUT}
            />
            <EventFields events={draft.events} problem={problems["events"]} onChange={(events) => change({ events })} />
          </FormSection>
        </form>
        <FormSection title="Deliveries">
          <div>
            <a class="btn line" href={hrefOf(deliveriesRoute("state=all&target=webhook"))}>
              <Icon name="send-horizontal" />
              Show the deliveries to webhooks
            </a>
          </div>
        </FormSection>
        <WebhookTest webhookId={webhook.webhook_id} hasChanges={hasChanges} />
        <SigningSecret
          rotate={(keep_old_seconds) =>
            api.post("/admin/settings/webhooks/{webhook_id}/rotate", { path, body: { keep_old_seconds } })
          }
        />
        <DeleteByName
          thing="the webhook"
          name={new URL(webhook.url).host}
          id={webhook.webhook_id}
          effect="Your server gets no more events. Deliveries stay in the log."
          remove={remove}
        />
      </div>
    </div>
  );
}

/** Sends a sample event, and shows the response. */
function WebhookTest({ webhookId, hasChanges }: { webhookId: string; hasChanges: boolean }) {
  const { api } = useWorkspace();
  const [event, setEvent] = useState<WebhookEventName | "test">("test");
  return (
    <FormSection title="Test">
      <SelectField
        id="test-event"
        label="Event"
        help="Sent at once with sample data, and signed like real events. It does not appear among the deliveries."
        value={event}
        options={[
          { value: "test", label: "test (no data)" },
          ...WEBHOOK_EVENTS.map(({ name }) => ({ value: name, label: name })),
        ]}
        onChange={setEvent}
      />
      {hasChanges && <p class="quiet-text">Changes that are not saved do not apply to the test.</p>}
      <ReceiverTest
        label="Send the event"
        what={event}
        send={() =>
          api.post("/admin/settings/webhooks/{webhook_id}/test", {
            path: { webhook_id: webhookId },
            body: { event },
          })
        }
      />
    </FormSection>
  );
}
