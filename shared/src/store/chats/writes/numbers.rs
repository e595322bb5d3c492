//! Assigns the numbers of chats and visitors, which are consecutive in an account.

use serde::Deserialize;

use crate::error::Error;
use crate::store::chats::{Chats, counters_key};
use crate::store::from_item;
use crate::store::table::{ItemUpdate, WriteError, WriteResult, n};

#[derive(Deserialize)]
pub(crate) struct LastAssignedNumbers {
    #[serde(default)]
    pub visitors: u64,
    #[serde(default)]
    pub chats: u64,
}

impl Chats {
    /// Assigns the next chat number and, if `is_new_visitor` is true, the next visitor number.
    pub(crate) async fn assign_chat_number(
        &self,
        account_id: &str,
        is_new_visitor: bool,
    ) -> Result<LastAssignedNumbers, WriteError> {
        let update = ItemUpdate {
            key: counters_key(account_id),
            update: "ADD #chats :one, #visitors :visitors",
            condition: "",
            values: vec![(":one", n(1)), (":visitors", n(u8::from(is_new_visitor)))],
        };
        Ok(from_item(self.table.update(update).await?)?)
    }

    pub(crate) async fn assign_visitor_number(&self, account_id: &str) -> Result<u64, Error> {
        let update = ItemUpdate {
            key: counters_key(account_id),
            update: "ADD #visitors :one",
            condition: "",
            values: vec![(":one", n(1))],
        };
        let numbers: LastAssignedNumbers = from_item(self.table.update(update).await.unconditional()?)?;
        Ok(numbers.visitors)
    }
}
