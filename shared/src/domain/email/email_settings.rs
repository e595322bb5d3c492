//! What an account sends by e-mail.

use std::time::Duration;

use crate::domain::email::mailbox::Mailbox;

pub const MAX_TRANSCRIPT_RECIPIENTS: usize = 5;
pub const MAX_SENDER_NAME_CHARS: usize = 60;
/// The longest delay of a queue.
pub const MAX_AWAY_MINUTES: u64 = 15;
pub const DEFAULT_AWAY: Duration = Duration::from_secs(5 * 60);

/// An account without e-mail has none of these settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailSettings {
    /// The name that the recipients see.
    pub sender_name: String,
    /// The addresses that get the transcript of each chat in which an agent took part.
    pub transcript_to: Vec<Mailbox>,
    pub transcript_to_visitor: bool,
    /// Whether the visitors of widgets get the answers of agents by e-mail when they have left the page, and can reply.
    pub answers_to_visitor: bool,
    /// How long a visitor must have been away before an answer is sent.
    pub away: Duration,
}

impl EmailSettings {
    /// Whether anybody gets the transcript of a chat.
    pub fn sends_transcripts(&self) -> bool {
        self.transcript_to_visitor || !self.transcript_to.is_empty()
    }
}
