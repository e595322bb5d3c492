//! The server-side webhooks of an account (specification, part C): who is told of what.

use crate::domain::call::Call;
use crate::domain::chat::Chat;
use crate::domain::rotation::{self, Rotated};
use crate::domain::timestamp::Timestamp;

/// What is told (specification, Events).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the specification's own")]
pub enum WebhookEvent {
    CallEvent,
    ChatAccepted,
    ChatAssigned,
    ChatFinished,
    ChatUpdated,
    OfflineMessage,
}

impl WebhookEvent {
    /// Every event.
    pub const ALL: [Self; 6] = [
        Self::CallEvent,
        Self::ChatAccepted,
        Self::ChatAssigned,
        Self::ChatFinished,
        Self::ChatUpdated,
        Self::OfflineMessage,
    ];

    /// `event_name`, also the name in storage.
    pub fn name(self) -> &'static str {
        match self {
            Self::CallEvent => "call_event",
            Self::ChatAccepted => "chat_accepted",
            Self::ChatAssigned => "chat_assigned",
            Self::ChatFinished => "chat_finished",
            Self::ChatUpdated => "chat_updated",
            Self::OfflineMessage => "offline_message",
        }
    }

    /// The event of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Whether the answer may carry data for the agent (docs/decisions.md, Webhooks).
    pub fn takes_data(self) -> bool {
        matches!(self, Self::ChatAccepted | Self::ChatUpdated)
    }
}

/// A signing secret; after a rotation the old ones sign beside the new one for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    /// Standard Webhooks, `whsec_...`.
    pub secret: String,
    /// Until when it is used; the present one has no end.
    pub valid_until: Option<Timestamp>,
}

impl Rotated for SigningSecret {
    fn valid_until(&mut self) -> &mut Option<Timestamp> {
        &mut self.valid_until
    }
}

/// Webhooks an account may have.
pub const MAX_WEBHOOKS: usize = 10;

/// A webhook address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Identifier.
    pub webhook_id: String,
    /// Where events are sent.
    pub url: String,
    /// The events it is told; empty means all.
    pub events: Vec<WebhookEvent>,
    /// The signing secrets that were rotated and still hold, the oldest first, and the current one.
    pub secrets: Vec<SigningSecret>,
}

impl Webhook {
    /// Whether it is told of an event.
    pub fn wants(&self, event: WebhookEvent) -> bool {
        self.events.is_empty() || self.events.contains(&event)
    }

    /// The secret that was made last.
    pub fn current_secret(&self) -> Option<&str> {
        self.secrets.iter().find(|known| known.valid_until.is_none()).map(|known| known.secret.as_str())
    }

    /// The secrets that sign now, the newest first.
    pub fn signing(&self, now: Timestamp) -> Vec<&str> {
        let living = self.secrets.iter().filter(|known| known.valid_until.is_none_or(|until| now < until));
        living.rev().map(|known| known.secret.as_str()).collect()
    }

    /// Puts a new secret in place, see [`rotation::rotate`].
    pub fn rotate(&mut self, secret: String, now: Timestamp, old_until: Timestamp) {
        rotation::rotate(&mut self.secrets, SigningSecret { secret, valid_until: None }, now, old_until);
    }

    /// Rotates the secret if the secrets are still `before`. One that is there already was put there by an earlier attempt of
    /// the same write, and is kept. Whether `secret` is in place now.
    pub fn rotate_from(
        &mut self,
        before: &[SigningSecret],
        secret: &str,
        now: Timestamp,
        old_until: Timestamp,
    ) -> bool {
        let is_done = self.secrets.iter().any(|known| known.secret == secret);
        if !is_done && self.secrets == before {
            self.rotate(secret.to_owned(), now, old_until);
            return true;
        }
        is_done
    }
}

/// An event on its way to one webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDispatch {
    /// What happened.
    pub event: WebhookEvent,
    /// Who is told.
    pub webhook_id: String,
    /// The agent who did it.
    pub agent_id: Option<u64>,
    /// `assign_to` of chat_assigned.
    pub assign_to: Option<String>,
    /// `call` of call_event.
    pub call: Option<Call>,
}

impl WebhookDispatch {
    /// Ids of the agents whom the event names, each once: everybody who took part in a chat that is finished, nobody for
    /// an offline message, else the agent who did it.
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

/// What an event says beyond the chat, the same to every webhook.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details<'a> {
    /// `assign_to` of chat_assigned.
    pub assign_to: Option<&'a str>,
    /// `call` of call_event.
    pub call: Option<&'a Call>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(secret: &str) -> Webhook {
        let first = SigningSecret { secret: secret.into(), valid_until: None };
        Webhook { webhook_id: "w".into(), url: "https://x.example".into(), events: vec![], secrets: vec![first] }
    }

    #[test]
    fn every_rotated_secret_signs_as_long_as_promised() {
        let mut webhook = webhook("one");
        assert_eq!(webhook.signing(Timestamp(0)), ["one"]);
        webhook.rotate("two".into(), Timestamp(0), Timestamp(100));
        webhook.rotate("three".into(), Timestamp(5), Timestamp(20));
        assert_eq!(webhook.signing(Timestamp(19)), ["three", "two", "one"]);
        assert_eq!(webhook.signing(Timestamp(20)), ["three", "one"]);
        assert_eq!(webhook.signing(Timestamp(100)), ["three"]);
        for secret in ["four", "five", "six", "seven"] {
            webhook.rotate(secret.into(), Timestamp(10), Timestamp(200));
        }
        assert_eq!(webhook.signing(Timestamp(11)), ["seven", "six", "five", "four", "three"]);
        webhook.rotate("last".into(), Timestamp(12), Timestamp(12));
        assert_eq!(webhook.signing(Timestamp(12)), ["last"]);
    }

    #[test]
    fn a_rotation_recognises_its_own_write_and_no_other() {
        let (mut ours, before) = (webhook("one"), webhook("one").secrets);
        let rotate =
            |webhook: &mut Webhook, secret: &str| webhook.rotate_from(&before, secret, Timestamp(0), Timestamp(100));
        assert!(rotate(&mut ours, "two"));
        let after = ours.clone();
        assert!(rotate(&mut ours, "two"), "the same write again");
        assert!(!rotate(&mut ours, "three"), "somebody else's");
        assert_eq!(ours, after);
    }

    #[test]
    fn a_webhook_without_a_choice_is_told_everything() {
        let webhook = |events| Webhook { webhook_id: "w".into(), url: String::new(), events, secrets: vec![] };
        assert!(webhook(vec![]).wants(WebhookEvent::ChatUpdated));
        assert!(!webhook(vec![WebhookEvent::ChatFinished]).wants(WebhookEvent::ChatUpdated));
    }
}
