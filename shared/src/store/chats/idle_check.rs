//! Chats that rest. While a chat is open its header is in the index of what is due, at the moment when somebody should
//! look whether it rests too long; a message does not move that moment, the look does. So a message pays nothing for it.

use crate::domain::chat::Chat;
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::deliveries::Overdue;
use crate::store::chats::{Chats, chat};
use crate::store::table::{ItemUpdate, Refused, n};
use crate::store::to_attribute;

impl Chats {
    /// The chat to look at, while it is open. One read.
    pub async fn due_for_idle_check(&self, found: &Overdue) -> Result<Option<Chat>, Error> {
        let chat = self.table.get(found.key.clone()).await?.map(chat).transpose()?;
        Ok(chat.filter(|chat| !chat.state.is_closed()))
    }

    /// Puts off the next look. What the account says of retention holds for the whole chat from now on, also for what was
    /// written before. One write; where the retention has changed, one more for each entry.
    pub async fn reschedule_idle_check(
        &self,
        found: &Overdue,
        chat: &Chat,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<(), Error> {
        let keep_days = settings.retention_days;
        let has_changed = chat.keep_days != keep_days;
        if has_changed {
            self.keep_entries(&Chat { keep_days, ..chat.clone() }, now).await?;
        }
        let change = ItemUpdate {
            key: found.key.clone(),
            update: "SET #due_at = :next, #keep_days = :keep_days",
            condition: "#due_at = :due_at",
            values: vec![
                (":next", n(settings.next_idle_check(chat.updated_at, now).0)),
                (":keep_days", to_attribute(&keep_days)?),
                (":due_at", n(found.due_at.0)),
            ],
        };
        match self.table.update(change).await {
            Err(Refused::Error(error)) => Err(error),
            Err(Refused::Condition { .. } | Refused::Contended) => Ok(()),
            Ok(item) => {
                let after = self::chat(item)?;
                // Something may have been written by the old rule meanwhile.
                if has_changed && after.seq != chat.seq { self.keep_entries(&after, now).await } else { Ok(()) }
            }
        }
    }
}
