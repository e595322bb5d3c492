//! What became of a bot's answers: attributes of the chat's header.

use crate::domain::chats::chat_state::ChatState;
use crate::error::Error;
use crate::store::chats::{Chats, header_key};
use crate::store::table::{ItemUpdate, WriteError, n, s};

impl Chats {
    /// Counts an answer that was refused because the visitor has written since.
    pub async fn count_superseded_answer(&self, account_id: &str, chat_id: u64) -> Result<(), Error> {
        let update = ItemUpdate {
            key: header_key(account_id, chat_id),
            update: "ADD #superseded_answers :one",
            condition: "attribute_exists(#pk)",
            values: vec![(":one", n(1))],
        };
        ignore_condition(self.table.update(update).await.map(|_| ()))
    }

    /// Stores that the visitor has stopped the bot's answer to his last message. Does nothing if no bot has the chat.
    pub(crate) async fn stop_answer(&self, account_id: &str, chat_id: u64) -> Result<(), Error> {
        let update = ItemUpdate {
            key: header_key(account_id, chat_id),
            update: "SET #stopped_seq = #visitor_seq",
            condition: "#state = :bot AND attribute_exists(#visitor_seq)",
            values: vec![(":bot", s(ChatState::Bot.name()))],
        };
        ignore_condition(self.table.update(update).await.map(|_| ()))
    }
}

fn ignore_condition(written: Result<(), WriteError>) -> Result<(), Error> {
    match written {
        Err(WriteError::Error(error)) => Err(error),
        Ok(()) | Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(()),
    }
}
