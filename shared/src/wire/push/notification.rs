//! The notifications that browsers get while the console is closed. The console's service worker reads them.

use serde::Serialize;

use crate::error::Error;

/// The longest text of a notification. Browsers show less.
pub(crate) const MAX_TEXT_CHARS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NotificationKind {
    /// The visitor has written in the agent's chat.
    Message,
    /// The chat waits for an agent.
    Waiting,
    /// A colleague or a bot has given the chat to the agent.
    Given,
    /// A note mentions the agent.
    Mention,
    /// The notification of the chat is no longer needed.
    Withdraw,
}

/// A notification. Each chat has at most one: the next one replaces it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Notification<'a> {
    pub kind: NotificationKind,
    pub chat_id: u64,
    /// The visitor's name. Absent if notifications must not contain texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
}

impl Notification<'_> {
    pub(crate) fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(Error::internal)
    }

    /// Returns what a push service replaces earlier notifications of the chat by.
    pub(crate) fn topic(&self) -> String {
        format!("chat-{}", self.chat_id)
    }
}
