//! The webhooks of an account (specification, part C).

use crate::domain::chat::Chat;
use crate::domain::phone_call::PhoneCall;
use crate::domain::secret_rotation::{self, Rotatable};
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook_event::WebhookEvent;

/// A signing secret of a webhook. After a rotation, each request is signed with both the new secret and the old secret
/// until the old secret expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    /// The secret in the format of Standard Webhooks, `whsec_...`.
    pub secret: String,
    /// The time at which a rotated secret expires. `None` means that this is the current secret, which does not expire.
    pub valid_until: Option<Timestamp>,
}

impl Rotatable for SigningSecret {
    fn valid_until(&mut self) -> &mut Option<Timestamp> {
        &mut self.valid_until
    }
}

/// The maximum number of webhooks that an account can have.
pub const MAX_WEBHOOKS: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub webhook_id: String,
    pub url: String,
    /// The events that the webhook receives. An empty list means all events.
    pub events: Vec<WebhookEvent>,
    /// The secrets, sorted from the oldest to the newest: first the rotated secrets that are still valid, then the
    /// current secret.
    pub secrets: Vec<SigningSecret>,
}

impl Webhook {
    pub fn subscribes_to(&self, event: WebhookEvent) -> bool {
        self.events.is_empty() || self.events.contains(&event)
    }

    pub fn current_secret(&self) -> Option<&str> {
        self.secrets.iter().find(|existing| existing.valid_until.is_none()).map(|current| current.secret.as_str())
    }

    /// Returns the secrets that are valid at `now`, newest first. Every request is signed with each of them.
    pub fn valid_secrets(&self, now: Timestamp) -> Vec<&str> {
        let valid = self.secrets.iter().filter(|existing| existing.valid_until.is_none_or(|until| now < until));
        valid.rev().map(|existing| existing.secret.as_str()).collect()
    }

    /// Replaces the signing secret; see [`secret_rotation::rotate`]. The previous secret stays valid until `old_until`.
    pub fn rotate(&mut self, secret: String, now: Timestamp, old_until: Timestamp) {
        secret_rotation::rotate(&mut self.secrets, SigningSecret { secret, valid_until: None }, now, old_until);
    }

    /// Rotates the secret unless the secrets differ from `before`. Returns whether `secret` is stored afterwards. The
    /// result is also true if `secret` was already stored, because an earlier attempt at the same write may have
    /// succeeded.
    pub fn rotate_if_unchanged(
        &mut self,
        before: &[SigningSecret],
        secret: &str,
        now: Timestamp,
        old_until: Timestamp,
    ) -> bool {
        let is_in_place = self.secrets.iter().any(|existing| existing.secret == secret);
        if !is_in_place && self.secrets == before {
            self.rotate(secret.to_owned(), now, old_until);
            return true;
        }
        is_in_place
    }
}

/// An event for one webhook. It is stored in the timeline entry whose delivery sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDispatch {
    pub event: WebhookEvent,
    pub webhook_id: String,
    /// The id of the agent who caused the event. `None` if no agent caused it.
    pub agent_id: Option<u64>,
    /// The `assign_to` field of a chat_assigned event.
    pub assign_to: Option<String>,
    /// The `call` field of a call_event event.
    pub call: Option<PhoneCall>,
}

impl WebhookDispatch {
    /// Returns the ids of the agents that appear in the event's body, without duplicates. chat_finished contains all
    /// participants, offline_message contains no agents, and other events contain the agent who caused them.
    pub fn agent_ids(&self, chat: &Chat) -> Vec<u64> {
        match self.event {
            WebhookEvent::ChatFinished => chat.participants.clone(),
            WebhookEvent::OfflineMessage => Vec::new(),
            WebhookEvent::CallEvent
            | WebhookEvent::ChatAccepted
            | WebhookEvent::ChatAssigned
            | WebhookEvent::ChatUpdated => self.agent_id.into_iter().collect(),
        }
    }
}

/// Event data that is not stored in the chat. It is the same for every webhook.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebhookEventDetails<'a> {
    /// The `assign_to` field of a chat_assigned event.
    pub assign_to: Option<&'a str>,
    /// The `call` field of a call_event event.
    pub call: Option<&'a PhoneCall>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(secret: &str) -> Webhook {
        let first = SigningSecret { secret: secret.into(), valid_until: None };
        Webhook { webhook_id: "w".into(), url: "https://x.example".into(), events: vec![], secrets: vec![first] }
    }

    #[test]
    fn rotated_secrets_stay_valid_until_their_end() {
        let mut webhook = webhook("one");
        assert_eq!(webhook.valid_secrets(Timestamp(0)), ["one"]);
        webhook.rotate("two".into(), Timestamp(0), Timestamp(100));
        webhook.rotate("three".into(), Timestamp(5), Timestamp(20));
        assert_eq!(webhook.valid_secrets(Timestamp(19)), ["three", "two", "one"]);
        assert_eq!(webhook.valid_secrets(Timestamp(20)), ["three", "one"]);
        assert_eq!(webhook.valid_secrets(Timestamp(100)), ["three"]);
        for secret in ["four", "five", "six", "seven"] {
            webhook.rotate(secret.into(), Timestamp(10), Timestamp(200));
        }
        assert_eq!(webhook.valid_secrets(Timestamp(11)), ["seven", "six", "five", "four", "three"]);
        webhook.rotate("last".into(), Timestamp(12), Timestamp(12));
        assert_eq!(webhook.valid_secrets(Timestamp(12)), ["last"]);
    }

    #[test]
    fn repeated_rotation_succeeds_and_concurrent_one_fails() {
        let (mut rotated, before) = (webhook("one"), webhook("one").secrets);
        let rotate = |webhook: &mut Webhook, secret: &str| {
            webhook.rotate_if_unchanged(&before, secret, Timestamp(0), Timestamp(100))
        };
        assert!(rotate(&mut rotated, "two"));
        let after = rotated.clone();
        assert!(rotate(&mut rotated, "two"), "a repeated write");
        assert!(!rotate(&mut rotated, "three"), "a concurrent rotation");
        assert_eq!(rotated, after);
    }

    #[test]
    fn webhook_without_event_list_receives_all_events() {
        let webhook = |events| Webhook { webhook_id: "w".into(), url: String::new(), events, secrets: vec![] };
        assert!(webhook(vec![]).subscribes_to(WebhookEvent::ChatUpdated));
        assert!(!webhook(vec![WebhookEvent::ChatFinished]).subscribes_to(WebhookEvent::ChatUpdated));
    }
}
