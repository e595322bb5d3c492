//! The webhooks of an account (specification, part C).

use crate::domain::chat::Chat;
use crate::domain::phone_call::PhoneCall;
use crate::domain::secret_rotation::{self, Rotatable};
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook_event::WebhookEvent;

/// A signing secret. After a rotation, requests are signed with both the new secret and the old secret until the old
/// one expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    /// In the format of Standard Webhooks, `whsec_...`.
    pub secret: String,
    /// The expiry time of a rotated secret. `None` for the current secret.
    pub valid_until: Option<Timestamp>,
}

impl Rotatable for SigningSecret {
    fn valid_until(&mut self) -> &mut Option<Timestamp> {
        &mut self.valid_until
    }
}

/// Limits the webhooks of one account.
pub const MAX_WEBHOOKS: usize = 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub webhook_id: String,
    pub url: String,
    /// The subscribed events. An empty list means all events.
    pub events: Vec<WebhookEvent>,
    /// The rotated secrets that are still valid, from the oldest to the newest, followed by the current secret.
    pub secrets: Vec<SigningSecret>,
}

impl Webhook {
    pub fn subscribes_to(&self, event: WebhookEvent) -> bool {
        self.events.is_empty() || self.events.contains(&event)
    }

    pub fn current_secret(&self) -> Option<&str> {
        self.secrets.iter().find(|existing| existing.valid_until.is_none()).map(|current| current.secret.as_str())
    }

    /// The valid secrets, newest first. Every request is signed with each of them.
    pub fn valid_secrets(&self, now: Timestamp) -> Vec<&str> {
        let valid = self.secrets.iter().filter(|existing| existing.valid_until.is_none_or(|until| now < until));
        valid.rev().map(|existing| existing.secret.as_str()).collect()
    }

    /// See [`secret_rotation::rotate`].
    pub fn rotate(&mut self, secret: String, now: Timestamp, old_until: Timestamp) {
        secret_rotation::rotate(&mut self.secrets, SigningSecret { secret, valid_until: None }, now, old_until);
    }

    /// Rotates the secret if the secrets are still the same as `before`. Returns whether `secret` is stored afterwards.
    /// This is also true if it was already stored, because an earlier attempt of the same write may have stored it.
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

/// An event for one webhook. It is stored in the timeline entry from which it is delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDispatch {
    pub event: WebhookEvent,
    pub webhook_id: String,
    /// The agent who caused the event.
    pub agent_id: Option<u64>,
    /// `assign_to` of chat_assigned.
    pub assign_to: Option<String>,
    /// `call` of call_event.
    pub call: Option<PhoneCall>,
}

impl WebhookDispatch {
    /// The ids of the agents in the body of the event, without duplicates: all participants for chat_finished, no
    /// agents for offline_message, and the agent who caused the event for other events.
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

/// The data of an event that is not stored in the chat. It is the same for every webhook.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebhookEventDetails<'a> {
    /// `assign_to` of chat_assigned.
    pub assign_to: Option<&'a str>,
    /// `call` of call_event.
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
