//! The webhooks of an account and the events that are sent to them (specification, part C).

use std::time::Duration;

use crate::domain::accounts::status_watch::StatusChange;
use crate::domain::calls::phone_call::PhoneCall;
use crate::domain::channels::channel::EndpointSecret;
use crate::domain::channels::secret_rotation;
use crate::domain::channels::signing_secret::SigningSecrets;
use crate::domain::chats::chat::Chat;
use crate::domain::deliveries::delivery::Target;
use crate::domain::deliveries::outage::{DeliveryOptions, OutageStatus};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

pub const MAX_WEBHOOKS: usize = 10;

named! {
    /// Where the events of a webhook go.
    #[derive(Default)]
    pub enum WebhookTarget {
        /// A server of the customer, by signed requests.
        #[default]
        Server = "server",
        /// An SQS queue in the customer's AWS account.
        Sqs = "sqs",
        /// An EventBridge event bus in the customer's AWS account.
        EventBridge = "eventbridge",
        /// A program of the customer, which fetches them.
        Pull = "pull",
    }
}

impl WebhookTarget {
    pub fn delivery_target(self) -> Target {
        match self {
            Self::Server | Self::Pull => Target::Webhook,
            Self::Sqs => Target::Sqs,
            Self::EventBridge => Target::EventBridge,
        }
    }
}

named! {
    /// The form of the bodies that a webhook gets.
    #[derive(Default)]
    pub enum BodyFormat as WebhookFormat {
        /// The event as in the specification.
        #[default]
        Json = "json",
        /// The event as `data` of CloudEvents 1.0, in structured content mode.
        CloudEvents = "cloudevents",
    }
}

named! {
    /// How much the bodies of a webhook's events contain.
    #[derive(Default)]
    pub enum BodyDetail as WebhookBodyDetail {
        /// All fields of the event.
        #[default]
        Full = "full",
        /// Only the fields that say what has happened where: no names, texts or contact details.
        Thin = "thin",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub webhook_id: String,
    pub target: WebhookTarget,
    /// The URL of the server or of the queue, or the ARN of the event bus. Empty if a program fetches the events.
    pub url: String,
    /// The role that may send to the queue or the event bus.
    pub role_arn: Option<String>,
    /// The events that the webhook receives. An empty list means all events of the specification.
    pub events: Vec<WebhookEvent>,
    pub secrets: SigningSecrets,
    /// The private keys of the Ed25519 signatures ([`SigningKey`](crate::domain::deliveries::signing_key::SigningKey)).
    /// Empty if the webhook has only HMAC signatures.
    pub signing_keys: SigningSecrets,
    /// The secrets in the address at which a program fetches the events, oldest first. Empty for other targets.
    pub pull_secrets: Vec<EndpointSecret>,
    pub format: BodyFormat,
    pub detail: BodyDetail,
    /// How long chat_finished waits for the visitor's rating.
    pub rating_wait: Duration,
    pub delivery: DeliveryOptions,
    /// What an outage of the receiver means for the webhook. Only the outage itself changes it.
    pub outage_status: OutageStatus,
}

impl Webhook {
    /// Returns a webhook for all events of the specification, with late delivery.
    pub fn new(webhook_id: String, url: String, secrets: SigningSecrets) -> Self {
        let delivery = DeliveryOptions { late_delivery: true, strict_order: false };
        Self {
            webhook_id,
            target: WebhookTarget::default(),
            url,
            role_arn: None,
            events: Vec::new(),
            secrets,
            signing_keys: SigningSecrets::default(),
            pull_secrets: Vec::new(),
            format: BodyFormat::default(),
            detail: BodyDetail::default(),
            rating_wait: Duration::ZERO,
            delivery,
            outage_status: OutageStatus::default(),
        }
    }

    pub fn has_ed25519_signature(&self) -> bool {
        !self.signing_keys.0.is_empty()
    }

    /// Adds or removes the Ed25519 signature. An existing key stays the same.
    pub fn set_ed25519_signature(&mut self, wanted: bool, new_key: &str) {
        if !wanted {
            self.signing_keys = SigningSecrets::default();
        } else if !self.has_ed25519_signature() {
            self.signing_keys = SigningSecrets::new(new_key);
        }
    }

    /// Returns the secrets and private keys that sign a request at `now`: those of HMAC first, each newest first.
    pub fn valid_secrets(&self, now: Timestamp) -> Vec<String> {
        [self.secrets.valid(now), self.signing_keys.valid(now)].concat()
    }

    /// Replaces the signing secret and, if the webhook has them, the private key and the secret of the address, unless
    /// they differ from those of `before`; see [`SigningSecrets::rotate_if_unchanged`].
    pub fn rotate_if_unchanged(
        &mut self,
        before: &Self,
        new: &NewSecrets<'_>,
        now: Timestamp,
        old_until: Timestamp,
    ) -> bool {
        let NewSecrets { signing_secret, signing_key, pull_hash } = *new;
        if !self.secrets.rotate_if_unchanged(&before.secrets, signing_secret, now, old_until) {
            return false;
        }
        let is_in_place = self.pull_secrets.iter().any(|existing| existing.hash == pull_hash);
        if self.target == WebhookTarget::Pull && !is_in_place {
            secret_rotation::rotate(&mut self.pull_secrets, EndpointSecret::new(pull_hash), now, old_until);
        }
        !self.has_ed25519_signature()
            || self.signing_keys.rotate_if_unchanged(&before.signing_keys, signing_key, now, old_until)
    }

    /// Returns how long after it happened an event is sent.
    pub fn delay_of(&self, event: WebhookEvent) -> Duration {
        if event == WebhookEvent::ChatFinished { self.rating_wait } else { Duration::ZERO }
    }

    /// Whether the webhook gets the changes of the statuses of agents or channels.
    pub fn reports_statuses(&self) -> bool {
        self.events.iter().any(|event| event.is_about_account())
    }

    pub fn subscribes_to(&self, event: WebhookEvent) -> bool {
        if self.events.is_empty() { !event.must_be_named() } else { self.events.contains(&event) }
    }
}

/// What a rotation of a webhook's secrets replaces them with.
pub struct NewSecrets<'a> {
    pub signing_secret: &'a str,
    pub signing_key: &'a str,
    /// The hash of the secret in the address at which a program fetches the events.
    pub pull_hash: [u8; 32],
}

/// An event for one webhook. It is stored in the timeline entry whose delivery sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDispatch {
    pub event: WebhookEvent,
    pub webhook_id: String,
    /// The agent whom the event names: the agent who made the change, who has the chat or, in a call_event, who takes
    /// part in the call. `None` if there is no such agent.
    pub agent_id: Option<u64>,
    /// The `assign_to` field of a chat_assigned event.
    pub assign_to: Option<String>,
    /// The `call` field of a call_event event.
    pub call: Option<PhoneCall>,
    /// Whether a chat_updated event reports a rating that the visitor gave or changed after chat_finished. The body
    /// then contains the rating.
    pub reports_rating: bool,
    /// The number of the message that the event is about.
    pub message_seq: Option<u64>,
    /// What an event of the account reports that belongs to no chat.
    pub status: Option<StatusChange>,
}

impl WebhookDispatch {
    /// Returns the ids of the agents that appear in the event's body, without duplicates. chat_finished contains all
    /// participants, offline_message contains no agents, and other events contain the agent in `agent_id`, if there is
    /// one.
    pub fn agent_ids(&self, chat: &Chat) -> Vec<u64> {
        if self.event == WebhookEvent::ChatFinished {
            chat.participants.clone()
        } else {
            self.agent_id.filter(|_| self.event != WebhookEvent::OfflineMessage).into_iter().collect()
        }
    }
}

/// Event data that is not stored in the chat and is the same for every webhook. See [`WebhookDispatch`] for the fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebhookEventDetails<'a> {
    pub assign_to: Option<&'a str>,
    pub call: Option<&'a PhoneCall>,
    pub reports_rating: bool,
    pub message_seq: Option<u64>,
    pub status: Option<&'a StatusChange>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_without_event_list_receives_all_events() {
        let webhook = |events| Webhook { events, ..Webhook::new("w".into(), String::new(), SigningSecrets::default()) };
        assert!(webhook(vec![]).subscribes_to(WebhookEvent::ChatUpdated));
        assert!(!webhook(vec![]).subscribes_to(WebhookEvent::ChatWaiting), "it must be named");
        assert!(webhook(vec![WebhookEvent::ChatWaiting]).subscribes_to(WebhookEvent::ChatWaiting));
        assert!(!webhook(vec![WebhookEvent::ChatFinished]).subscribes_to(WebhookEvent::ChatUpdated));
    }
}
