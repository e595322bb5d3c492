//! Canned replies: texts that the agents of an account insert into their messages by typing a shortcut. A reply with
//! actions is a macro: when the agent sends it, the console also tags, transfers or closes the chat.

use crate::domain::chats::transfer_request::TransferRequest;

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
    pub actions: ReplyActions,
}

/// What the console does with the chat after an agent has sent the reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyActions {
    pub add_tags: Vec<u64>,
    pub last: Option<LastAction>,
}

/// The action after which the agent no longer has the chat, so that nothing can follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastAction {
    Transfer(TransferRequest),
    Close,
}

impl CannedReply {
    /// Returns the shortcut in lower case. This value is unique in the account, so that two shortcuts cannot differ
    /// only in case.
    pub fn unique_shortcut(&self) -> String {
        self.shortcut.to_lowercase()
    }
}
