//! The handover of a chat from its bot to the agents: what the bot tells them, and until when one of them must accept
//! the chat.

use crate::domain::chats::message_content::truncate_chars;
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

/// The maximum length of the part of the summary that the chat's header stores. Every message in the chat rewrites the
/// header.
pub const MAX_SUMMARY_START_CHARS: usize = 200;

named! {
    /// Why a bot invites an agent.
    pub enum HandoverReason {
        /// The visitor wants to talk to a person.
        Requested = "requested",
        UnknownAnswer = "unknown_answer",
        Sensitive = "sensitive",
        Complaint = "complaint",
        Sales = "sales",
        OutOfScope = "out_of_scope",
        Error = "error",
        Other = "other",
    }
}

named! {
    /// How urgent a bot considers a chat that it hands over.
    pub enum HandoverPriority {
        Low = "low",
        Normal = "normal",
        High = "high",
        Urgent = "urgent",
    }
}

/// What a bot tells the agents when it hands over a chat. The visitor never sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandoverDetails {
    pub reason: Option<HandoverReason>,
    pub priority: Option<HandoverPriority>,
    /// Markdown.
    pub summary: Option<String>,
    /// A JSON object, as text.
    pub data: Option<String>,
}

impl HandoverDetails {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The handover as the chat's header stores it. The whole summary and the data are in the entry with the number
/// `details_seq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotHandover {
    pub at: Timestamp,
    /// Whether the bot failed or did not answer in time. If false, the bot invited the agents, or the visitor asked for
    /// them.
    pub is_fallback: bool,
    pub reason: Option<HandoverReason>,
    pub priority: Option<HandoverPriority>,
    /// The beginning of the summary, at most [`MAX_SUMMARY_START_CHARS`] characters.
    pub summary_start: Option<String>,
    /// The number of the entry that contains the details. `None` if the bot sent none.
    pub details_seq: Option<u64>,
    /// When the chat returns to the bot, unless an agent accepts it before. `None` if it stays with the agents.
    pub return_at: Option<Timestamp>,
}

impl BotHandover {
    /// Returns a handover because the bot has failed.
    pub fn fallback(at: Timestamp) -> Self {
        Self {
            at,
            is_fallback: true,
            reason: None,
            priority: None,
            summary_start: None,
            details_seq: None,
            return_at: None,
        }
    }

    /// Returns a handover because the visitor has asked for a person.
    pub fn requested(at: Timestamp) -> Self {
        let details = HandoverDetails { reason: Some(HandoverReason::Requested), ..HandoverDetails::default() };
        Self::invitation(&details, None, at)
    }

    /// Returns the handover without what the bot told the agents.
    pub fn without_details(self) -> Self {
        Self { summary_start: None, details_seq: None, ..self }
    }

    /// Returns a handover because the bot has invited the agents. `details_seq` is the number of the entry that
    /// contains the details, if there is one.
    pub fn invitation(details: &HandoverDetails, details_seq: Option<u64>, at: Timestamp) -> Self {
        let summary_start = details.summary.as_deref().map(|text| truncate_chars(text, MAX_SUMMARY_START_CHARS));
        let HandoverDetails { reason, priority, .. } = *details;
        Self { is_fallback: false, reason, priority, summary_start, details_seq, ..Self::fallback(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_keeps_only_the_beginning_of_the_summary() {
        let details = HandoverDetails {
            reason: Some(HandoverReason::Sales),
            priority: Some(HandoverPriority::High),
            summary: Some("ж".repeat(4_000)),
            data: Some("{}".into()),
        };
        let handover = BotHandover::invitation(&details, Some(3), Timestamp(5));
        assert_eq!(handover.summary_start, Some("ж".repeat(MAX_SUMMARY_START_CHARS)));
        assert_eq!((handover.reason, handover.priority), (details.reason, details.priority));
        assert_eq!((handover.details_seq, handover.is_fallback, handover.return_at), (Some(3), false, None));
        let expired = handover.without_details();
        assert_eq!((expired.summary_start, expired.details_seq, expired.reason), (None, None, details.reason));
        assert!(HandoverDetails::default().is_empty() && !details.is_empty());
    }
}
