/* The list of the account's webhooks. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { AccountSettings, Webhook, WebhookEventName, WebhookWithSecret } from "../../api/types";
import { Dialog } from "../../ui/dialog";
import { SelectField, TextField, URL_INPUT } from "../../ui/form-fields";
import { Icon } from "../../ui/icons";
import { TableHead } from "../../ui/table-head";
import { NewRecordForm, useNewRecordForm } from "../admin/draft-form";
import { FailureCount } from "../admin/failure-count";
import { EmptyList, ListPage, LoadedPage } from "../admin/list-page";
import { CopyField } from "../admin/secret";
import { ShownOnceDialog } from "../admin/shown-once-dialog";
import { useLoaded } from "../admin/use-loaded";
import { useRequestGuard } from "../admin/use-leave-guard";
import { receiverUrlHelp, receiverUrlProblem } from "../admin/receiver-url";
import type { Problems } from "../admin/use-settings-form";
import { hrefOf, navigate } from "../state/page/route";
import { useRecentFailures } from "../state/alerts/recent-failures";
import { useWorkspace } from "../workspace-context";
import { webhookName } from "./log-filter";
import { EventFields, eventsText } from "./webhook-events";
import { ADDRESS_INPUT, ADDRESSES, PULL_HELP, roleHelp, TARGET_OPTIONS } from "./webhook-target";
import { webhookRoute } from "../state/page/page-routes";
import { t } from "../../texts/translate";

const MAX_WEBHOOKS = 10;

export function WebhooksPage({ tabs }: { tabs: ComponentChildren }) {
  const { api } = useWorkspace();
  const loaded = useLoaded(() => api.get("/admin/settings"));
  const [isAdding, setAdding] = useState(false);
  const settings = loaded.value;
  const webhooks = settings?.webhooks;
  const canAdd = webhooks !== undefined && webhooks.length < MAX_WEBHOOKS;
  return (
    <ListPage
      title={t`Webhooks`}
      tabs={tabs}
      action={canAdd ? { label: t`Add a webhook`, icon: "plus", run: () => setAdding(true) } : undefined}
    >
      <LoadedPage loaded={loaded} what={t`The webhooks`}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <EmptyList
              icon="webhook"
              title={t`There are no webhooks yet`}
              text={t`A webhook notifies a server of yours, such as a CRM, of what happens in chats.`}
            />
          ) : (
            <WebhookTable webhooks={webhooks} />
          )
        }
      </LoadedPage>
      {isAdding && settings !== undefined && (
        <AddWebhookDialog
          settings={settings}
          onAdded={(webhook) => loaded.setValue({ ...settings, webhooks: [...settings.webhooks, webhook] })}
          onClose={() => setAdding(false)}
        />
      )}
    </ListPage>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  const { api } = useWorkspace();
  const failures = useRecentFailures(api, "webhook");
  return (
    <table>
      <TableHead columns={[t`Address`, [t`Events`, "wide-only"]]} />
      <tbody>
        {webhooks.map(({ webhook_id, url, events }) => (
          <tr key={webhook_id}>
            <td>
              <a class="person" href={hrefOf(webhookRoute(webhook_id))}>
                <Icon name="webhook" />
                <span class="clip">{webhookName({ webhook_id, url })}</span>
                <FailureCount counts={failures} id={webhook_id} />
              </a>
            </td>
            <td class="wide-only rest">
              <div class="clip">{eventsText(events)}</div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface WebhookDraft {
  target: Webhook["target"];
  url: string;
  role_arn: string;
  events: WebhookEventName[];
}

interface AddWebhookDialogProps {
  settings: AccountSettings;
  onAdded: (webhook: Webhook) => void;
  onClose: () => void;
}

function AddWebhookDialog({ settings, onAdded, onClose }: AddWebhookDialogProps) {
  const { api } = useWorkspace();
  const [added, setAdded] = useState<WebhookWithSecret>();
  const form = useNewRecordForm({
    fields: ["url", "role_arn", "events"],
    initial: (): WebhookDraft => ({ target: "server", url: "", role_arn: "", events: [] }),
    check: ({ target, url }): Problems => {
      if (target !== "server") return {};
      const problem = receiverUrlProblem(url, settings);
      return problem === undefined ? {} : { url: problem };
    },
    create: ({ target, url, role_arn, events }) => {
      const role = target === "server" ? {} : { role_arn: role_arn.trim() };
      const address = target === "pull" ? {} : { url: url.trim(), ...role };
      return api.post("/admin/settings/webhooks", { body: { target, ...address, events } });
    },
    onCreated: (webhook) => {
      const { signing_secret: _, pull_url: _address, ...stored } = webhook;
      onAdded(stored);
      setAdded(webhook);
    },
  });
  const { target } = form.draft;
  const isServer = target === "server";
  useRequestGuard(form.isBusy);
  if (added !== undefined) {
    const openPage = () => {
      onClose();
      navigate(webhookRoute(added.webhook_id));
    };
    return (
      <ShownOnceDialog key="added" title={t`The webhook is added`} class="wide-dialog" onClose={openPage}>
        <p class="quiet-text">
          {added.pull_url === undefined
            ? t`The secret is shown only now. Verify the signature of each request with it, so that you accept only what comes from here. You can test the webhook on its page.`
            : t`The address and the secret are shown only now. Your program fetches events from the address, and verifies the signature of each with the secret.`}
        </p>
        {added.pull_url !== undefined && (
          <CopyField label={t`Address of the events`} name={t`the address`} text={added.pull_url} />
        )}
        <CopyField label={t`Signing secret`} name={t`the secret`} text={added.signing_secret} />
      </ShownOnceDialog>
    );
  }
  return (
    <Dialog key="question" title={t`Add a webhook`} class="wide-dialog" isLocked={form.isBusy} onClose={onClose}>
      <NewRecordForm form={form} label={t`Add`} busyLabel={t`Adding…`} onCancel={onClose}>
        <SelectField
          id="webhook-target"
          label={t`Where events go`}
          value={target}
          options={TARGET_OPTIONS}
          onChange={(target) => form.change({ target })}
        />
        {target === "pull" ? (
          <p class="quiet-text">{PULL_HELP}</p>
        ) : (
          <TextField
            {...form.text("url")}
            label={ADDRESSES[target].label}
            help={isServer ? `${ADDRESSES[target].help} ${receiverUrlHelp(settings)}` : ADDRESSES[target].help}
            input={{ ...(isServer ? URL_INPUT : ADDRESS_INPUT), placeholder: ADDRESSES[target].placeholder }}
          />
        )}
        {!isServer && target !== "pull" && (
          <TextField
            {...form.text("role_arn")}
            label={t`ARN of the role`}
            help={roleHelp(settings.aws_external_id)}
            input={{ ...ADDRESS_INPUT, placeholder: "arn:aws:iam::123456789012:role/switchboard" }}
          />
        )}
        <EventFields
          events={form.draft.events}
          problem={form.problems["events"]}
          onChange={(events) => form.change({ events })}
        />
      </NewRecordForm>
    </Dialog>
  );
}
