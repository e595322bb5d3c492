//! Notifies webhooks of an event that changes nothing in the chat.

use crate::chats::notifications::NotificationContext;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::WebhookEventDetails;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::{WriteResult, key_taken};

/// Stores a notification for each webhook that subscribes to `event`. Returns the stored entries, which the caller must
/// queue. The list is empty if no webhook subscribes, or if the chat is closed or no longer exists.
pub async fn notify_webhooks(
    chats: &Chats,
    chat: &Chat,
    event: WebhookEvent,
    details: WebhookEventDetails<'_>,
    context: &NotificationContext<'_>,
) -> Result<Vec<TimelineEntry>, Error> {
    let contents = context.webhook_notifications(event, details);
    if contents.is_empty() {
        return Ok(Vec::new());
    }
    let Some(mut header) = chats.reserve_entries(chat, contents.len(), context.now).await? else {
        return Ok(Vec::new());
    };
    let entries = context.create_entries(&mut header, contents)?;
    if let [first, others @ ..] = entries.as_slice() {
        let others = others.iter().map(entry_write).collect::<Result<_, _>>()?;
        chats.store_entry_with(first, None, others).await.on_condition_failed(key_taken())?;
    }
    Ok(entries)
}
