//! One entry of a chat's timeline: a message and, when it goes to somebody's server, the duty to send it.
//! Both are one item, so that the fact and the duty are committed by one write.

use super::chat::From;
use super::content::Content;
use super::delivery::Delivery;
use super::timestamp::Timestamp;
use super::webhook::Occurrence;

/// An entry of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The account.
    pub account_id: String,
    /// The chat.
    pub chat_id: u64,
    /// Its place in the chat.
    pub seq: u64,
    /// `message.id` and `webhook-id` towards the integrator; unique.
    pub id: String,
    /// Who wrote it.
    pub from: From,
    /// What it says.
    pub content: Content,
    /// When it was written.
    pub at: Timestamp,
    /// For an event of a webhook: which.
    pub occurrence: Option<Occurrence>,
    /// When it is forgotten; none: never.
    pub keep_until: Option<Timestamp>,
    /// Its way to somebody's server, if it has one.
    pub delivery: Option<Delivery>,
}

impl Entry {
    /// Whether it is not to be shown any more; the table deletes late.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        self.keep_until.is_some_and(|until| until <= now)
    }
}
