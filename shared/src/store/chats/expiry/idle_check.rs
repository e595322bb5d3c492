//! Idle checks: the scheduled search for open chats without recent activity. The `due` index contains the header of
//! each open chat, sorted by the time of the chat's next idle check. Messages do not change that time, so they cause no
//! index writes. Instead, each check schedules the next one.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::OverdueItem;
use crate::store::chats::{Chats, chat_from_item};
use crate::store::table::{ItemUpdate, WriteError, n, s};
use crate::store::to_attribute;

impl Chats {
    /// Reads the chat of an item that is due. Returns `None` if the chat is closed or no longer exists.
    pub async fn due_for_idle_check(&self, due_item: &OverdueItem) -> Result<Option<Chat>, Error> {
        let chat = self.table.get(due_item.key.clone()).await?.map(chat_from_item).transpose()?;
        Ok(chat.filter(|chat| !chat.state.is_closed()))
    }

    /// Sets the time of the next idle check and the chat's retention period. Returns the new header, or `None` if the
    /// chat has been closed or another process has checked it.
    pub(crate) async fn set_next_idle_check(
        &self,
        due_item: &OverdueItem,
        next: Timestamp,
        retention_days: Option<u32>,
    ) -> Result<Option<Chat>, Error> {
        let update = ItemUpdate {
            key: due_item.key.clone(),
            update: "SET #due_at = :next, #retention_days = :retention_days",
            condition: "#due_at = :due_at AND #state <> :closed",
            values: vec![
                (":closed", s(ChatState::Closed(None).name())),
                (":next", n(next.0)),
                (":retention_days", to_attribute(&retention_days)?),
                (":due_at", n(due_item.due_at.0)),
            ],
        };
        match self.table.update(update).await {
            Ok(item) => chat_from_item(item).map(Some),
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(None),
            Err(WriteError::Error(error)) => Err(error),
        }
    }
}
