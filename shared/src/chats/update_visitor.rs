//! Stores changes to a visitor that do not come with a message, for example those that an agent, a bot or the widget
//! makes to the visitor's profile.

use crate::chats::append_entry::MAX_VISITOR_NAME_CHARS;
use crate::chats::notifications::NotificationContext;
use crate::domain::chat::Chat;
use crate::domain::message_content::truncate_chars;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{Visitor, VisitorField};
use crate::domain::webhook::Webhook;
use crate::error::Error;
use crate::store::chats::visitor_updates::{UpdateExpression, visitor_update};
use crate::store::chats::{Chats, chat_from_item, entry_write, header_key};
use crate::store::table::{ITEM_EXISTS, Write, WriteResult, n, s};
use crate::store::to_attribute;

impl Chats {
    /// Stores a visitor's changed attributes without notifying webhooks.
    pub async fn save_visitor(&self, visitor: &Visitor, now: Timestamp) -> Result<(), Error> {
        self.save_visitor_and_notify(visitor, &[], now).await.map(|_| ())
    }

    /// Stores a visitor's changed attributes together with the chat_updated events that report the change. Returns the
    /// events, which the caller must queue.
    ///
    /// The header is written first, to assign the entry numbers. If the function is interrupted before the transaction
    /// that follows, the visitor is unchanged, and a repeated request stores and reports the change.
    pub async fn save_visitor_and_notify(
        &self,
        visitor: &Visitor,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Vec<TimelineEntry>, Error> {
        if visitor.changes.fields.is_empty() {
            return Ok(Vec::new());
        }
        let context = NotificationContext { webhooks, agent_id: None, now };
        let count = if visitor.changes.must_notify_webhooks { context.chat_updated_subscriber_count() } else { 0 };
        let notifications = match self.update_header_for_visitor(visitor, count, now).await? {
            Some(mut header) => {
                let context =
                    NotificationContext { agent_id: header.state.agent().map(|agent| agent.agent_id), ..context };
                let contents = context.chat_updated_notifications(&header, visitor);
                header.seq = header.seq.saturating_sub(contents.len() as u64);
                context.create_entries(&mut header, contents)?
            }
            None => Vec::new(),
        };
        let Some(update) = visitor_update(visitor)? else { return Ok(notifications) };
        if notifications.is_empty() {
            self.table.update(update).await.on_condition_failed(Error::NotFound)?;
        } else {
            let writes = notifications.iter().map(entry_write).chain([Ok(Write::DynamicUpdate(update))]);
            self.table.transact(writes.collect::<Result<_, _>>()?).await.on_condition_failed(Error::NotFound)?;
        }
        Ok(notifications)
    }

    /// If the visitor's name has changed, sets it in the open chat's header. While the visitor is blacklisted, the
    /// header has a mark that lets messages read the visitor before they write the header. If `count` is not 0 and an
    /// agent owns the chat, also assigns `count` entry numbers and returns the header; otherwise, returns `None`.
    async fn update_header_for_visitor(
        &self,
        visitor: &Visitor,
        count: usize,
        now: Timestamp,
    ) -> Result<Option<Chat>, Error> {
        let Some(chat_id) = visitor.open_chat else { return Ok(None) };
        let key = header_key(&visitor.account_id, chat_id);
        let has_changed = |field| visitor.changes.fields.contains(&field);
        let mut changes = UpdateExpression::default();
        changes.add("#other_change_at = :now", [(":now", n(now.0))]);
        if has_changed(VisitorField::Name) {
            let name = truncate_chars(visitor.profile.display_name(), MAX_VISITOR_NAME_CHARS);
            changes.add("#visitor_name = :name", [(":name", s(name))]);
        }
        if has_changed(VisitorField::Blacklisted) {
            if visitor.blacklisted {
                changes.add("#must_read_visitor = :true", [(":true", to_attribute(&true)?)]);
            } else {
                changes.remove("#must_read_visitor");
            }
        }
        if count > 0 {
            let mut changes = changes.clone();
            changes.add("#seq = #seq + :count", [(":count", n(count)), (":active", s("active"))]);
            let updated = self.table.update(changes.into_update(key.clone(), "#state = :active")).await;
            if let Ok(item) = updated.condition()? {
                return chat_from_item(item).map(Some);
            }
        }
        if has_changed(VisitorField::Name) || has_changed(VisitorField::Blacklisted) {
            self.table.update(changes.into_update(key, ITEM_EXISTS)).await.on_condition_failed(Error::NotFound)?;
        }
        Ok(None)
    }
}
