//! Receives a message that a visitor has written: a text, a file or another content of an integrator's or a widget's
//! message.
//!
//! For a message in an open chat, the visitor is read and the header is written concurrently if the process remembers
//! the chat.

use crate::chats::append_entry::append_entry;
use crate::chats::notifications::NotificationContext;
use crate::chats::visitor::visitor_entry::{EntryKind, FromVisitor, StoredEntry, VisitorData, VisitorEntry};
use crate::domain::chats::chat::{Chat, MessagePreview, Sender};
use crate::domain::chats::message_content::Content;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::visitors::visitor::{ProfileSource, VisitorProfile};
use crate::domain::visitors::widget_visitor::Page;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::listing::recent_open_chats::WritingVisitor;
use crate::store::chats::visitors::visitor_message_rate::RequiredState;
use crate::store::chats::writes::visitor_message_header::VisitorHeaderUpdate;
use crate::store::table::WriteError;

#[derive(Clone, Copy)]
pub struct VisitorText<'a> {
    pub from: FromVisitor<'a>,
    pub content: &'a Content,
    /// Whether the JSON value of `sender.id` was a number.
    pub has_numeric_id: bool,
    /// The value of `sender.invite`.
    pub invite: Option<&'a str>,
    pub profile: &'a VisitorProfile,
    pub source: ProfileSource,
    /// The page of the browser. `None` if the message is not sent by a browser.
    pub page: Option<&'a Page>,
}

/// Stores a visitor's message in the visitor's open chat, or opens a chat with it. Returns `None` and stores nothing if
/// the visitor is blacklisted.
///
/// # Errors
/// Fails with `InvalidVisitorToken` if the channel is a widget and the visitor does not exist or has expired.
/// Also fails if a rate limit is exceeded, or if an earlier request with the same idempotency key had a different body.
pub async fn receive_visitor_text(chats: &Chats, text: &VisitorText<'_>) -> Result<Option<StoredEntry>, Error> {
    let VisitorText { from, content, has_numeric_id, invite, profile, source, page } = *text;
    let entry = VisitorEntry {
        from,
        content,
        visitor: VisitorData { profile, source, answers: None, page },
        has_numeric_id: Some(has_numeric_id),
        kind: EntryKind::Message { invite },
    };
    // With an idempotency key, the receipt must be read first, and with an invitation, the header.
    if from.key.is_some() || invite.is_some() {
        return append_entry(chats, &entry, None).await;
    }
    let visitor = WritingVisitor { channel_id: &from.channel.channel_id, external_id: from.external_id, profile };
    let early_header = advance_recent_header(chats, text, chats.recent_open_chats.take(visitor));
    let stored = append_entry(chats, &entry, Some(Box::pin(early_header))).await?;
    if let Some(stored) = &stored {
        chats.recent_open_chats.remember(visitor, stored.receipt.chat_id);
    }
    Ok(stored)
}

/// Writes the header of the remembered chat as if the message did not change the visitor. Returns `None` if no chat is
/// remembered, or if the chat's state or a concurrent write prevents the write.
///
/// The caller must not use the header if the visitor has been blacklisted or has another open chat, or if webhooks are
/// notified of a changed profile. This is only possible if another request has changed the visitor in the meantime. The
/// message's number then remains unused, and its preview and its count stay in the header, like those of a failed
/// request.
async fn advance_recent_header(
    chats: &Chats,
    text: &VisitorText<'_>,
    chat_id: Option<u64>,
) -> Result<Option<Chat>, Error> {
    let Some(chat_id) = chat_id else { return Ok(None) };
    let FromVisitor { channel, settings, now, .. } = text.from;
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now };
    let message_events = context.subscriber_count(WebhookEvent::Message);
    let update = VisitorHeaderUpdate {
        account_id: &channel.account_id,
        chat_id,
        required_state: RequiredState::AnyOpen,
        preview: MessagePreview::of(text.content, &Sender::Visitor, now),
        visitor_name: None,
        has_numeric_id: Some(text.has_numeric_id),
        new_invite: None,
        entry_count: 1 + message_events as u64,
        is_message: true,
        max_messages: settings.limits.visitor_messages,
        now,
    };
    match chats.advance_header_for_visitor(&update).await {
        Ok(header) => Ok(Some(header)),
        Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(None),
        Err(WriteError::Error(error)) => Err(error),
    }
}
