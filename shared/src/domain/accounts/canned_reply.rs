//! Canned replies: texts that the agents of an account insert into their messages by typing a shortcut.

/// The maximum number of canned replies in an account. The list of all canned replies must fit into one response of a
/// Lambda function, which is at most 6 MB.
pub const MAX_CANNED_REPLIES: usize = 250;
pub const MAX_SHORTCUT_CHARS: usize = 40;
pub const MAX_CANNED_TEXT_CHARS: usize = 5_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CannedReply {
    pub id: String,
    pub shortcut: String,
    /// The text, in which the console replaces `{visitor}` and `{agent}` with names.
    pub text: String,
}

impl CannedReply {
    /// Returns the shortcut in lower case. This value is unique in the account, so that two shortcuts cannot differ
    /// only in case.
    pub fn unique_shortcut(&self) -> String {
        self.shortcut.to_lowercase()
    }
}
