//! Idle checks: the scheduled search for open chats without recent activity. The `due` index contains the header of
//! each open chat, sorted by the time of the chat's next idle check. Messages do not change that time, so they cause no
//! index writes. Instead, each check schedules the next one.

use crate::domain::account_settings::AccountSettings;
use crate::domain::chat::Chat;
use crate::domain::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::due_index::OverdueItem;
use crate::store::chats::{Chats, chat_from_item};
use crate::store::table::{ItemUpdate, WriteError, n, s};
use crate::store::to_attribute;

impl Chats {
    /// Reads the chat of an item that is due. Returns `None` if the chat is closed or no longer exists.
    pub async fn due_for_idle_check(&self, due_item: &OverdueItem) -> Result<Option<Chat>, Error> {
        let chat = self.table.get(due_item.key.clone()).await?.map(chat_from_item).transpose()?;
        Ok(chat.filter(|chat| !chat.state.is_closed()))
    }

    /// Schedules the next idle check, and applies the account's current retention period to the whole chat, including
    /// earlier entries. If an entry is added in the meantime, the timeline is read twice.
    pub async fn reschedule_idle_check(
        &self,
        due_item: &OverdueItem,
        chat: &Chat,
        settings: &AccountSettings,
        now: Timestamp,
    ) -> Result<(), Error> {
        let retention_days = settings.retention_days;
        let has_changed = chat.retention_days != retention_days;
        if has_changed {
            self.update_entries_expiry(&Chat { retention_days, ..chat.clone() }, now).await?;
        }
        let update = ItemUpdate {
            key: due_item.key.clone(),
            update: "SET #due_at = :next, #retention_days = :retention_days",
            condition: "#due_at = :due_at AND #state <> :closed",
            values: vec![
                (":closed", s(ChatState::Closed(None).name())),
                (":next", n(settings.next_idle_check(chat.updated_at, now).0)),
                (":retention_days", to_attribute(&retention_days)?),
                (":due_at", n(due_item.due_at.0)),
            ],
        };
        match self.table.update(update).await {
            Err(WriteError::Error(error)) => Err(error),
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(()),
            Ok(item) => {
                let after = chat_from_item(item)?;
                // If entries have been added, update the entries again: a concurrent write may have used the old
                // retention period.
                if has_changed && after.seq != chat.seq {
                    self.update_entries_expiry(&after, now).await
                } else {
                    Ok(())
                }
            }
        }
    }
}
