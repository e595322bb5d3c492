//! Changes a visitor without a message: an agent, a bot or the widget changes the visitor's profile, or an agent
//! blacklists the visitor.

use crate::chats::notifications::NotificationContext;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::WebhookEventDetails;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{Visitor, VisitorField};
use crate::error::Error;
use crate::store::chats::visitors::visitor_updates::visitor_update_write;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::WriteResult;

/// Stores a visitor's changed attributes without notifying webhooks.
pub async fn update_visitor(chats: &Chats, visitor: &Visitor, now: Timestamp) -> Result<(), Error> {
    let context = NotificationContext { webhooks: &[], agent_id: None, now };
    update_visitor_and_notify(chats, visitor, &context).await.map(|_| ())
}

/// Stores a visitor's changed attributes together with the chat_updated and visitor_blacklisted events that report the
/// change. Returns the events, which the caller must queue. The agent of `context` is the one who makes the change.
///
/// The header is written first, to assign the entry numbers. If the function is interrupted before the transaction
/// that follows, the visitor is unchanged, and a repeated request stores and reports the change.
pub async fn update_visitor_and_notify(
    chats: &Chats,
    visitor: &Visitor,
    context: &NotificationContext<'_>,
) -> Result<Vec<TimelineEntry>, Error> {
    if visitor.changes.fields.is_empty() {
        return Ok(Vec::new());
    }
    let must_notify = visitor.changes.must_notify_webhooks;
    let count = if must_notify { context.subscriber_count(WebhookEvent::ChatUpdated) } else { 0 };
    let mut notifications = match chats.update_header_for_visitor(visitor, count, context.now).await? {
        Some(mut header) => {
            let owner = header.state.agent().map(|agent| agent.agent_id);
            let context = NotificationContext { agent_id: owner, ..*context };
            let contents = context.chat_updated_notifications(&header, visitor);
            header.seq = header.seq.saturating_sub(contents.len() as u64);
            context.create_entries(&mut header, contents)?
        }
        None => Vec::new(),
    };
    notifications.extend(blacklisting_events(chats, visitor, context).await?);
    if notifications.is_empty() {
        chats.store_visitor_changes(visitor).await.on_condition_failed(Error::NotFound)?;
    } else if let Some(update) = visitor_update_write(visitor)? {
        let writes = notifications.iter().map(entry_write).chain([Ok(update)]).collect::<Result<_, _>>()?;
        chats.transact(writes).await.on_condition_failed(Error::NotFound)?;
    }
    Ok(notifications)
}

/// Assigns the numbers of the visitor_blacklisted events in the visitor's last chat and returns them.
async fn blacklisting_events(
    chats: &Chats,
    visitor: &Visitor,
    context: &NotificationContext<'_>,
) -> Result<Vec<TimelineEntry>, Error> {
    let is_blacklisted = visitor.blacklisted && visitor.changes.fields.contains(&VisitorField::Blacklisted);
    let Some(chat_id) = visitor.last_chat.filter(|_| is_blacklisted) else { return Ok(Vec::new()) };
    let contents = context.webhook_notifications(WebhookEvent::VisitorBlacklisted, WebhookEventDetails::default());
    if contents.is_empty() {
        return Ok(Vec::new());
    }
    let reserved = chats.reserve_events((&visitor.account_id, chat_id), contents.len(), context.now).await?;
    reserved.map_or(Ok(Vec::new()), |mut header| context.create_entries(&mut header, contents))
}
