//! An e-mail before it is sent.

use crate::domain::email::mailbox::Mailbox;

/// The longest subject in characters. A longer line would be folded.
const MAX_SUBJECT_CHARS: usize = 150;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingEmail {
    pub sender_name: String,
    pub to: Mailbox,
    /// Where replies go. `None` if nobody reads replies.
    pub reply_to: Option<Mailbox>,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The name of the conversation, from letters, digits, dots and hyphens. E-mails with the same name are shown as one
    /// thread.
    pub thread: String,
}

/// Returns a subject of one line.
pub(super) fn subject(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    line.trim().chars().take(MAX_SUBJECT_CHARS).collect()
}
