//! The /admin/settings/webhooks endpoints: bodies and operations.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::domain::deliveries::webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::wire::admin::receiver_test::ReceiverTest;
use crate::wire::admin::signing_secret::{SecretRotation, SigningSecret};
use crate::wire::fields::urls::{ReceiverUrl, WebUrl};
use crate::wire::fields::values::{Name, NotNull, True};
use crate::wire::webhooks::webhook_sample::WebhookTestRequest;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/admin/settings/webhooks", "addWebhook", "Adds a webhook; an account can have at most 10")
            .describe(
                "`events` limits the webhook to these events; empty or absent means all. The signing secret is shown \
                 only in this response.",
            )
            .body::<NewWebhook>()
            .answers::<WebhookWithSecret>(201, "The webhook with its signing secret, which is shown only once.")
            .fails(&[Failure::Conflict]),
        Operation::patch(
            "/admin/settings/webhooks/{webhook_id}",
            "changeWebhook",
            "Changes the address or the events of a webhook",
        )
        .describe("Absent fields stay unchanged. The secret stays the same.")
        .body::<WebhookChanges>()
        .answers::<Webhook>(200, "The webhook."),
        Operation::delete("/admin/settings/webhooks/{webhook_id}", "removeWebhook", "Removes a webhook")
            .describe("Events that are already queued are not sent any more.")
            .answers::<DeletedWebhook>(200, "Deleted."),
        Operation::post(
            "/admin/settings/webhooks/{webhook_id}/rotate",
            "rotateWebhook",
            "Creates a new signing secret for a webhook; up to four old ones stay valid for a limited time",
        )
        .describe(
            "Each old secret signs requests until it expires. If keep_old_seconds is 0, all old secrets expire at \
             once. 409 for one of two concurrent rotations.",
        )
        .optional_body::<SecretRotation>()
        .answers::<WebhookWithSecret>(200, "The webhook with its new signing secret, which is shown only once.")
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/admin/settings/webhooks/{webhook_id}/test",
            "testWebhook",
            "Sends one signed sample event and returns the request and the response",
        )
        .describe(
            "The event is sent at once, with sample data, and nothing is stored. `error` is null if a delivery with \
             this response would have succeeded.",
        )
        .optional_body::<WebhookTestRequest>()
        .answers::<ReceiverTest>(200, "The request and its result. Any 2xx counts as delivered.")
        .fails(&[Failure::TooManyRequests]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct NewWebhook {
    url: ReceiverUrl,
    events: Option<WebhookEvents>,
}

impl NewWebhook {
    /// Returns the new webhook. `blank` has its id and its signing secret.
    pub fn into_webhook(self, blank: webhook::Webhook, guard: &SsrfGuard) -> Result<webhook::Webhook, Error> {
        let Self { url, events } = self;
        let events = events.map(WebhookEvents::into_unique).unwrap_or_default();
        Ok(webhook::Webhook { url: url.checked("url", guard)?, events, ..blank })
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
pub struct WebhookChanges {
    #[serde(default)]
    url: NotNull<ReceiverUrl>,
    events: Option<WebhookEvents>,
}

impl WebhookChanges {
    /// Returns the changed webhook.
    pub fn applied_to(self, webhook: &webhook::Webhook, guard: &SsrfGuard) -> Result<webhook::Webhook, Error> {
        let Self { url: NotNull(url), events } = self;
        let mut changed = webhook.clone();
        if let Some(url) = url {
            changed.url = url.checked("url", guard)?;
        }
        changed.events = events.map_or(changed.events, WebhookEvents::into_unique);
        Ok(changed)
    }
}

/// The events that the webhook receives; all events when the list is empty.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct WebhookEvents(Vec<Name<WebhookEvent>>);

impl WebhookEvents {
    fn into_unique(self) -> Vec<WebhookEvent> {
        let mut unique = BTreeSet::new();
        let events = self.0.into_iter().map(|Name(event)| event);
        events.filter(|event| unique.insert(*event)).collect()
    }
}

/// A webhook without its signing secrets.
#[derive(Serialize, JsonSchema)]
pub struct Webhook {
    webhook_id: String,
    url: WebUrl,
    events: Vec<Name<WebhookEvent>>,
}

impl Webhook {
    pub fn new(webhook: &webhook::Webhook) -> Self {
        let webhook::Webhook { webhook_id, url, events, secrets: _ } = webhook.clone();
        Self { webhook_id, url: WebUrl(url), events: events.into_iter().map(Name).collect() }
    }
}

/// A webhook with its new signing secret. No later response contains this secret.
#[derive(Serialize, JsonSchema)]
pub struct WebhookWithSecret {
    #[serde(flatten)]
    webhook: Webhook,
    signing_secret: SigningSecret,
}

impl WebhookWithSecret {
    pub fn new(webhook: &webhook::Webhook, secret: &str) -> Self {
        Self { webhook: Webhook::new(webhook), signing_secret: SigningSecret::new(secret) }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DeletedWebhook {
    pub webhook_id: String,
    pub deleted: True,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::domain::channels::signing_secret::SigningSecrets;
    use crate::wire::fields::reader::read;

    #[test]
    fn duplicate_webhook_events_are_removed() {
        let secrets = SigningSecrets::default();
        let blank = webhook::Webhook { webhook_id: "w".into(), url: String::new(), events: vec![], secrets };
        let events = ["chat_finished", "chat_accepted"].repeat(5_000);
        let body = json!({ "url": "https://crm.example", "events": events });
        let webhook = read::<NewWebhook>(&body).unwrap().into_webhook(blank, &SsrfGuard::new(vec![], false)).unwrap();
        assert_eq!(webhook.events, [WebhookEvent::ChatFinished, WebhookEvent::ChatAccepted]);
    }
}
