//! The server-side webhooks of an account (specification, part C): who is told of what.

use super::call::Call;
use super::timestamp::Timestamp;

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

/// A signing secret; after a rotation the old one signs beside the new one for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    /// Standard Webhooks, `whsec_...`.
    pub secret: String,
    /// Until when it is used; the present one has no end.
    pub valid_until: Option<Timestamp>,
}

/// A webhook address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Identifier.
    pub webhook_id: String,
    /// Where events are sent.
    pub url: String,
    /// The events it is told; empty means all.
    pub events: Vec<WebhookEvent>,
    /// The present signing secret and, after a rotation, the one before it.
    pub secrets: Vec<SigningSecret>,
}

impl Webhook {
    /// Whether it is told of an event.
    pub fn wants(&self, event: WebhookEvent) -> bool {
        self.events.is_empty() || self.events.contains(&event)
    }

    /// The secrets that sign now.
    pub fn signing(&self, now: Timestamp) -> Vec<&str> {
        let living = self.secrets.iter().filter(|known| known.valid_until.is_none_or(|until| now < until));
        living.map(|known| known.secret.as_str()).collect()
    }

    /// Puts a new secret in place; the present one signs beside it until `old_until`.
    pub fn rotate(&mut self, secret: String, old_until: Timestamp) {
        self.secrets.retain(|known| known.valid_until.is_none());
        for known in &mut self.secrets {
            known.valid_until = Some(old_until);
        }
        self.secrets.insert(0, SigningSecret { secret, valid_until: None });
    }
}

/// An event on its way to one webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
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

    #[test]
    fn after_a_rotation_two_secrets_sign_until_the_old_one_ends() {
        let first = SigningSecret { secret: "one".into(), valid_until: None };
        let mut webhook =
            Webhook { webhook_id: "w".into(), url: "https://x.example".into(), events: vec![], secrets: vec![first] };
        assert_eq!(webhook.signing(Timestamp(0)), ["one"]);
        webhook.rotate("two".into(), Timestamp(10));
        assert_eq!(webhook.signing(Timestamp(9)), ["two", "one"]);
        assert_eq!(webhook.signing(Timestamp(10)), ["two"]);
        webhook.rotate("three".into(), Timestamp(20));
        assert_eq!(webhook.signing(Timestamp(11)), ["three", "two"]);
    }

    #[test]
    fn a_webhook_without_a_choice_is_told_everything() {
        let webhook = |events| Webhook { webhook_id: "w".into(), url: String::new(), events, secrets: vec![] };
        assert!(webhook(vec![]).wants(WebhookEvent::ChatUpdated));
        assert!(!webhook(vec![WebhookEvent::ChatFinished]).wants(WebhookEvent::ChatUpdated));
    }
}
