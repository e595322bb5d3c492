//! An answer that a bot on standby suggests to the agent who has the chat. The agent decides: it is never sent by
//! itself.

use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotDraft {
    pub bot_name: String,
    pub text: String,
    /// The number of the entry that the bot answers, or else of the chat's last entry when it sent the draft. If the
    /// visitor has written since, the draft may be out of date; if an agent has, it is no longer needed.
    pub after_seq: u64,
    pub at: Timestamp,
}

named! {
    /// What an agent has done with a draft. One that was neither taken nor edited was ignored.
    pub enum DraftUse {
        /// The message is the draft.
        Taken = "taken",
        /// The agent has changed the draft before sending it.
        Edited = "edited",
    }
}
