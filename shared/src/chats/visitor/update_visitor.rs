//! Changes a visitor without a message: an agent, a bot or the widget changes the visitor's profile, or an agent
//! blacklists the visitor.

use crate::chats::notifications::NotificationContext;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::visitors::visitor_updates::visitor_update_write;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::WriteResult;

/// Stores a visitor's changed attributes without notifying webhooks.
pub async fn update_visitor(chats: &Chats, visitor: &Visitor, now: Timestamp) -> Result<(), Error> {
    update_visitor_and_notify(chats, visitor, &[], now).await.map(|_| ())
}

/// Stores a visitor's changed attributes together with the chat_updated events that report the change. Returns the
/// events, which the caller must queue.
///
/// The header is written first, to assign the entry numbers. If the function is interrupted before the transaction
/// that follows, the visitor is unchanged, and a repeated request stores and reports the change.
pub async fn update_visitor_and_notify(
    chats: &Chats,
    visitor: &Visitor,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Vec<TimelineEntry>, Error> {
    if visitor.changes.fields.is_empty() {
        return Ok(Vec::new());
    }
    let context = NotificationContext { webhooks, agent_id: None, now };
    let count = if visitor.changes.must_notify_webhooks { context.chat_updated_subscriber_count() } else { 0 };
    let notifications = match chats.update_header_for_visitor(visitor, count, now).await? {
        Some(mut header) => {
            let context = NotificationContext { agent_id: header.state.agent().map(|agent| agent.agent_id), ..context };
            let contents = context.chat_updated_notifications(&header, visitor);
            header.seq = header.seq.saturating_sub(contents.len() as u64);
            context.create_entries(&mut header, contents)?
        }
        None => Vec::new(),
    };
    if notifications.is_empty() {
        chats.store_visitor_changes(visitor).await.on_condition_failed(Error::NotFound)?;
    } else if let Some(update) = visitor_update_write(visitor)? {
        let writes = notifications.iter().map(entry_write).chain([Ok(update)]).collect::<Result<_, _>>()?;
        chats.transact(writes).await.on_condition_failed(Error::NotFound)?;
    }
    Ok(notifications)
}
