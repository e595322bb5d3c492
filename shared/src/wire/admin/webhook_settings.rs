//! The /admin/settings/webhooks endpoints: bodies and operations.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::channels::signing_secret;
use crate::domain::deliveries::aws_address;
use crate::domain::deliveries::outage::{DeliveryOptions, OutageStatus};
use crate::domain::deliveries::signing_key::SigningKey;
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::domain::deliveries::webhook::{self, BodyDetail, BodyFormat, WebhookTarget};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::wire::admin::outages::changed_delivery_options;
use crate::wire::admin::receiver_test::ReceiverTest;
use crate::wire::admin::signing_secret::{SecretRotation, SigningSecret};
use crate::wire::fields::urls::{MAX_URL_CHARS, ReceiverUrl, WebUrl};
use crate::wire::fields::values::{AnyText, Change, Name, True, UnixSeconds, Whole};
use crate::wire::webhooks::webhook_sample::WebhookTestRequest;

/// A queue delays a task by at most fifteen minutes.
const MAX_RATING_WAIT_SECONDS: u64 = 600;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/admin/settings/webhooks", "addWebhook", "Adds a webhook; an account can have at most 10")
            .describe(
                "`target` is a server, an SQS queue, an EventBridge event bus, or a program that fetches the events \
                 (`pull`). A queue and an event bus need `role_arn`; a program has neither `url` nor `role_arn`, and \
                 fetches from the `pull_url` of the response. `events` limits the webhook to these events; empty or absent means the six events of \
                 the specification. The signing secret and \
                 `pull_url` are shown only in this response.",
            )
            .body::<NewWebhook>()
            .answers::<WebhookWithSecret>(201, "The webhook with its secrets, which are shown only once.")
            .fails(&[Failure::Conflict]),
        Operation::patch(
            "/admin/settings/webhooks/{webhook_id}",
            "changeWebhook",
            "Changes the address or the events of a webhook",
        )
        .describe("Absent fields stay unchanged. The secret and the target stay the same.")
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
             once. The same applies to the key pair of a webhook with `ed25519_signature` and to the `pull_url` of one \
             with the target `pull`. 409 for one of two concurrent rotations.",
        )
        .optional_body::<SecretRotation>()
        .answers::<WebhookWithSecret>(200, "The webhook with its new secrets, which are shown only once.")
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/admin/settings/webhooks/{webhook_id}/test",
            "testWebhook",
            "Sends one signed sample event and returns the request and the response",
        )
        .describe(
            "The event is sent at once, with sample data, and nothing is stored. `error` is null if a delivery with \
             this response would have succeeded. `clause` chooses what is tested: a wrong signature, for example, \
             which the server must refuse. `kept` is the result. A queue or an event bus gets the event like a real one; the response \
             then says whether AWS has accepted it. 409 if a program fetches the events, or if a \
             queue or an event bus is to be tested with another clause than `accepts`.",
        )
        .optional_body::<WebhookTestRequest>()
        .answers::<ReceiverTest>(200, "The request and its result. Any 2xx counts as delivered.")
        .fails(&[Failure::Conflict, Failure::TooManyRequests]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct NewWebhook {
    #[schemars(extend("default" = "server"))]
    target: Option<Name<WebhookTarget>>,
    /// Required, except for the target `pull`, which has none.
    url: Option<WebhookAddress>,
    role_arn: Option<RoleArn>,
    events: Option<WebhookEvents>,
    /// Whether events that could not be delivered are attempted again for three days.
    #[schemars(extend("default" = true))]
    late_delivery: Option<bool>,
    /// Whether a chat's events wait for an earlier one that is not delivered. Requires `late_delivery`.
    #[schemars(extend("default" = false))]
    strict_order: Option<bool>,
    /// Whether requests also have an Ed25519 signature (`v1a`), which `public_keys` verify.
    #[schemars(extend("default" = false))]
    ed25519_signature: Option<bool>,
    /// `cloudevents` wraps the event into CloudEvents 1.0, in structured content mode.
    #[schemars(extend("default" = "json"))]
    format: Option<Name<BodyFormat>>,
    /// `thin` leaves out names, texts, contact details and other data of the visitor.
    #[schemars(extend("default" = "full"))]
    body: Option<Name<BodyDetail>>,
    /// How many seconds chat_finished waits for the visitor's rating.
    #[schemars(extend("default" = 0))]
    rating_wait_seconds: Option<RatingWait>,
}

impl NewWebhook {
    /// Returns the new webhook. `blank` has its id and its signing secret. `new_key` is a new private key, in case the
    /// webhook needs one.
    pub fn into_webhook(
        self,
        blank: webhook::Webhook,
        new_key: &str,
        guard: &SsrfGuard,
    ) -> Result<webhook::Webhook, Error> {
        let Self {
            target,
            url,
            role_arn,
            events,
            late_delivery,
            strict_order,
            ed25519_signature,
            format,
            body,
            rating_wait_seconds,
        } = self;
        let target = target.map_or(WebhookTarget::default(), |Name(target)| target);
        let events = events.map(WebhookEvents::into_unique).unwrap_or_default();
        let delivery = changed_delivery_options(blank.delivery, late_delivery, strict_order)?;
        let format = format.map_or(blank.format, |Name(format)| format);
        let detail = body.map_or(blank.detail, |Name(detail)| detail);
        let rating_wait = rating_wait_seconds.map_or(blank.rating_wait, RatingWait::duration);
        let (url, role_arn) = (checked_address(url, target, guard)?, checked_role(role_arn, target)?);
        let mut webhook =
            webhook::Webhook { target, url, role_arn, events, format, detail, rating_wait, delivery, ..blank };
        webhook.set_ed25519_signature(ed25519_signature.unwrap_or_default(), new_key);
        Ok(webhook)
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
pub struct WebhookChanges {
    #[serde(default)]
    url: Change<WebhookAddress>,
    role_arn: Option<RoleArn>,
    events: Option<WebhookEvents>,
    /// Whether events that could not be delivered are attempted again for three days.
    late_delivery: Option<bool>,
    /// Whether a chat's events wait for an earlier one that is not delivered. Requires `late_delivery`.
    strict_order: Option<bool>,
    /// Whether requests also have an Ed25519 signature (`v1a`), which `public_keys` verify. False discards the key pair.
    ed25519_signature: Option<bool>,
    /// `cloudevents` wraps the event into CloudEvents 1.0, in structured content mode.
    format: Option<Name<BodyFormat>>,
    /// `thin` leaves out names, texts, contact details and other data of the visitor.
    body: Option<Name<BodyDetail>>,
    /// How many seconds chat_finished waits for the visitor's rating.
    rating_wait_seconds: Option<RatingWait>,
}

impl WebhookChanges {
    /// Whether the webhook will get the changes of statuses because of this change.
    pub fn reports_statuses(&self) -> bool {
        self.events
            .as_ref()
            .is_some_and(|WebhookEvents(events)| events.iter().any(|Name(event)| event.is_about_account()))
    }

    /// Returns the changed webhook. `new_key` is a new private key, in case the webhook needs one.
    pub fn applied_to(
        self,
        webhook: &webhook::Webhook,
        new_key: &str,
        guard: &SsrfGuard,
    ) -> Result<webhook::Webhook, Error> {
        let Self {
            url,
            role_arn,
            events,
            late_delivery,
            strict_order,
            ed25519_signature,
            format,
            body,
            rating_wait_seconds,
        } = self;
        let mut changed = webhook.clone();
        changed.delivery = changed_delivery_options(changed.delivery, late_delivery, strict_order)?;
        if let Some(url) = url.into_option() {
            changed.url = checked_address(url, webhook.target, guard)?;
        }
        if role_arn.is_some() {
            changed.role_arn = checked_role(role_arn, webhook.target)?;
        }
        changed.events = events.map_or(changed.events, WebhookEvents::into_unique);
        changed.format = format.map_or(changed.format, |Name(format)| format);
        changed.detail = body.map_or(changed.detail, |Name(detail)| detail);
        changed.rating_wait = rating_wait_seconds.map_or(changed.rating_wait, RatingWait::duration);
        changed.set_ed25519_signature(ed25519_signature.unwrap_or(webhook.has_ed25519_signature()), new_key);
        Ok(changed)
    }
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct RatingWait(Whole<0, MAX_RATING_WAIT_SECONDS>);

impl RatingWait {
    fn duration(self) -> Duration {
        let Self(Whole(seconds)) = self;
        Duration::from_secs(seconds)
    }
}

/// The http(s) URL of a server, the URL of an SQS queue, or the ARN of an EventBridge event bus.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct WebhookAddress(AnyText<MAX_URL_CHARS>);

impl WebhookAddress {
    fn checked(self, target: WebhookTarget, guard: &SsrfGuard) -> Result<String, Error> {
        let Self(AnyText(text)) = self;
        match target {
            WebhookTarget::Server => {
                let url = WebUrl::try_from(AnyText(text)).map_err(|message| Error::field("url", message))?;
                let url = ReceiverUrl::try_from(url).map_err(|message| Error::field("url", message))?;
                url.checked("url", guard)
            }
            WebhookTarget::Sqs if aws_address::queue_region(&text).is_some() => Ok(text),
            WebhookTarget::Sqs => Err(Error::field("url", NOT_A_QUEUE)),
            WebhookTarget::EventBridge if aws_address::event_bus_region(&text).is_some() => Ok(text),
            WebhookTarget::EventBridge => Err(Error::field("url", NOT_AN_EVENT_BUS)),
            WebhookTarget::Pull => Err(Error::field("url", "a program that fetches events has no address")),
        }
    }
}

fn checked_address(url: Option<WebhookAddress>, target: WebhookTarget, guard: &SsrfGuard) -> Result<String, Error> {
    match (url, target) {
        (Some(url), target) => url.checked(target, guard),
        (None, WebhookTarget::Pull) => Ok(String::new()),
        (None, WebhookTarget::Server | WebhookTarget::Sqs | WebhookTarget::EventBridge) => {
            Err(Error::field("url", "is required"))
        }
    }
}

const NOT_A_QUEUE: &str =
    "must be the URL of an SQS queue, such as https://sqs.eu-central-1.amazonaws.com/123456789012/chats";
const NOT_AN_EVENT_BUS: &str =
    "must be the ARN of an event bus, such as arn:aws:events:eu-central-1:123456789012:event-bus/chats";
const NOT_A_ROLE: &str = "must be the ARN of a role, such as arn:aws:iam::123456789012:role/switchboard";
const MAX_ROLE_ARN_CHARS: usize = 2_048;

/// The ARN of the role that may send to the queue or the event bus. Its trust policy must require `aws_external_id` of
/// the account's settings as the external id.
type RoleArn = AnyText<MAX_ROLE_ARN_CHARS>;

fn checked_role(role_arn: Option<RoleArn>, target: WebhookTarget) -> Result<Option<String>, Error> {
    match (target, role_arn) {
        (WebhookTarget::Server | WebhookTarget::Pull, None) => Ok(None),
        (WebhookTarget::Server | WebhookTarget::Pull, Some(_)) => {
            Err(Error::field("role_arn", "only a queue or an event bus has a role"))
        }
        (WebhookTarget::Sqs | WebhookTarget::EventBridge, None) => Err(Error::field("role_arn", "is required")),
        (WebhookTarget::Sqs | WebhookTarget::EventBridge, Some(AnyText(role))) => {
            if aws_address::is_role_arn(&role) {
                Ok(Some(role))
            } else {
                Err(Error::field("role_arn", NOT_A_ROLE))
            }
        }
    }
}

/// The events that the webhook receives; the six events of the specification when the list is empty.
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
    target: Name<WebhookTarget>,
    /// The http(s) URL of a server, the URL of an SQS queue, or the ARN of an EventBridge event bus; null for `pull`.
    #[schemars(extend("format" = "uri"))]
    url: Option<String>,
    /// The role that may send to the queue or the event bus; null for other targets.
    role_arn: Option<String>,
    events: Vec<Name<WebhookEvent>>,
    late_delivery: bool,
    strict_order: bool,
    outage: Name<OutageStatus>,
    format: Name<BodyFormat>,
    body: Name<BodyDetail>,
    rating_wait_seconds: u64,
    ed25519_signature: bool,
    /// The keys that verify the Ed25519 signatures: first those that a rotation has replaced, last the current one.
    public_keys: Vec<PublicKey>,
}

#[derive(Serialize, JsonSchema)]
struct PublicKey {
    /// `whpk_` and the 32 bytes of the key in base64 (Standard Webhooks).
    #[schemars(regex(pattern = "^whpk_"))]
    public_key: String,
    /// Until when a replaced key signs requests; null for the current key.
    valid_until: Option<UnixSeconds>,
}

impl PublicKey {
    fn of(signing_key: &signing_secret::SigningSecret) -> Option<Self> {
        let public_key = SigningKey::parse(&signing_key.secret)?.to_public_text();
        Some(Self { public_key, valid_until: signing_key.valid_until.map(UnixSeconds::from) })
    }
}

impl Webhook {
    pub fn new(webhook: &webhook::Webhook) -> Self {
        let webhook::Webhook {
            webhook_id,
            target,
            url,
            role_arn,
            events,
            secrets: _,
            signing_keys,
            pull_secrets: _,
            format,
            detail,
            rating_wait,
            delivery,
            outage_status,
        } = webhook.clone();
        let DeliveryOptions { late_delivery, strict_order } = delivery;
        Self {
            webhook_id,
            target: Name(target),
            url: Some(url).filter(|_| target != WebhookTarget::Pull),
            role_arn,
            events: events.into_iter().map(Name).collect(),
            late_delivery,
            strict_order,
            outage: Name(outage_status),
            format: Name(format),
            body: Name(detail),
            rating_wait_seconds: rating_wait.as_secs(),
            ed25519_signature: webhook.has_ed25519_signature(),
            public_keys: signing_keys.0.iter().filter_map(PublicKey::of).collect(),
        }
    }
}

/// A webhook with its new secrets. No later response contains them.
#[derive(Serialize, JsonSchema)]
pub struct WebhookWithSecret {
    #[serde(flatten)]
    webhook: Webhook,
    signing_secret: SigningSecret,
    /// The secret address at which a program fetches the events. Only for the target `pull`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pull_url: Option<WebUrl>,
}

impl WebhookWithSecret {
    /// `pull_url` is the address of the events if a program fetches them.
    pub fn new(webhook: &webhook::Webhook, secret: &str, pull_url: String) -> Self {
        let pull_url = (webhook.target == WebhookTarget::Pull).then_some(WebUrl(pull_url));
        Self { webhook: Webhook::new(webhook), signing_secret: SigningSecret::new(secret), pull_url }
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
        let blank = webhook::Webhook::new("w".into(), String::new(), SigningSecrets::default());
        let events = ["chat_finished", "chat_accepted"].repeat(5_000);
        let body = json!({ "url": "https://crm.example", "events": events });
        let webhook =
            read::<NewWebhook>(&body).unwrap().into_webhook(blank, "", &SsrfGuard::new(vec![], false)).unwrap();
        assert_eq!(webhook.events, [WebhookEvent::ChatFinished, WebhookEvent::ChatAccepted]);
    }
}
