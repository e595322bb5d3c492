//! Stores an entry from a visitor. The entry is added to the visitor's open chat, or opens one. If the channel has a
//! bot, every new chat goes to the bot first; only the chat of a visitor who calls by phone goes to the agents at once.

use futures_util::future::{BoxFuture, OptionFuture, join, try_join};

use crate::chats::open_chat::open_chat;
use crate::chats::visitor::visitor_entry::{FromVisitor, StoredEntry, VisitorEntry};
use crate::domain::chats::chat::{Chat, MessagePreview, Sender};
use crate::domain::chats::idempotency_key::MessageReceipt;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::listing::panels::{invite_hash, invite_write};
use crate::store::chats::report_counters::count_write;
use crate::store::chats::visitors::visitor_message_rate::RequiredState;
use crate::store::chats::visitors::visitor_updates::visitor_update_write;
use crate::store::chats::writes::visitor_message_header::VisitorHeaderUpdate;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

/// Writes the header of the visitor's chat while the visitor is read, if it is known which chat that will be.
pub(super) type EarlyHeader<'a> = BoxFuture<'a, Result<Option<Chat>, Error>>;

/// Stores an entry. Returns `None` and stores nothing if the visitor is blacklisted. `early_header` is not used if the
/// visitor turns out to have another open chat.
///
/// # Errors
/// Fails with `InvalidVisitorToken` if the channel is a widget and the visitor does not exist or has expired, and with
/// a conflict if the entry is a callback and a call of the visitor or the number is in progress, the balance is used up
/// or a limit on callbacks is reached. Also fails if a rate limit is exceeded, or if an earlier request with the same
/// idempotency key had a different body.
pub(super) async fn append_entry(
    chats: &Chats,
    entry: &VisitorEntry<'_>,
    early_header: Option<EarlyHeader<'_>>,
) -> Result<Option<StoredEntry>, Error> {
    let FromVisitor { channel, external_id, key, now, .. } = entry.from;
    let mut early_header = early_header;
    let mut must_notify_webhooks = false;
    let mut races = WriteRaces::new("visitor message");
    loop {
        let reads = try_join(chats.earlier_receipt(key), chats.visitor(&channel.channel_id, external_id));
        let (reads, early) = join(reads, OptionFuture::from(early_header.take())).await;
        let (receipt, visitor) = reads?;
        if let Some(receipt) = receipt {
            return Ok(Some(StoredEntry::repeated(receipt)));
        }
        if visitor.as_ref().is_some_and(|visitor| visitor.blacklisted) {
            return Ok(None);
        }
        let open_chat_id = visitor.as_ref().and_then(|visitor| visitor.open_chat);
        let early = early.transpose()?.flatten().filter(|header| open_chat_id == Some(header.chat_id));
        let is_known = visitor.as_ref().is_some_and(|visitor| !visitor.is_expired(now));
        let written = match (visitor, open_chat_id) {
            (Some(visitor), Some(chat_id)) => {
                append_to_open_chat(chats, entry, (visitor, chat_id), early, &mut must_notify_webhooks).await
            }
            _ if !is_known && !entry.may_create_visitor() => return Err(Error::InvalidVisitorToken),
            (visitor, _) => open_chat(chats, entry, visitor.map(|it| it.reset_if_expired(now))).await,
        };
        if let Some(result) = races.final_result(written) {
            return result.map(Some);
        }
    }
}

/// Adds an entry to the visitor's open chat. `early_header` is the chat's header if it was written while the visitor
/// was read. Sets `must_notify_webhooks` if webhooks must be notified of changed visitor data. The flag stays set for a
/// retry, which may find the new data already stored.
async fn append_to_open_chat(
    chats: &Chats,
    new: &VisitorEntry<'_>,
    (mut visitor, chat_id): (Visitor, u64),
    early_header: Option<Chat>,
    must_notify_webhooks: &mut bool,
) -> Result<StoredEntry, WriteError> {
    let FromVisitor { channel, key, now, settings, .. } = new.from;
    new.update_visitor(&mut visitor);
    *must_notify_webhooks |= visitor.changes.must_notify_webhooks;
    visitor.changes.must_notify_webhooks = *must_notify_webhooks;
    let chat = if new.depends_on_header(&visitor) {
        let chat = chats.chat(&channel.account_id, chat_id).await?;
        // If the chat is missing, the visitor is being erased. If it is closed, another request has closed it. In both
        // cases, the visitor must be read again.
        Some(chat.filter(|chat| !chat.state.is_closed()).ok_or(WriteError::Contended)?)
    } else {
        None
    };
    let call_slot = new.call_slot(chats).await?;

    let agent_id = chat.as_ref().and_then(|chat| chat.state.agent()).map(|agent| agent.agent_id);
    let context = new.context(agent_id);
    let mut notifications =
        chat.as_ref().map(|chat| context.chat_updated_notifications(chat, &visitor)).unwrap_or_default();
    notifications.extend(chat.iter().flat_map(|chat| new.notifications(agent_id, &chat.state)));

    let message_events = if new.is_text() { context.subscriber_count(WebhookEvent::Message) } else { 0 };
    let notification_count = (notifications.len() + message_events) as u64;
    let last_invite = chat.as_ref().and_then(|chat| chat.invite_hash.as_deref());
    let new_invite = new.invite().filter(|invite| last_invite != Some(&*invite_hash(invite)));
    let visitor_name = visitor.profile.display_name();
    let mut header = match early_header.filter(|_| chat.is_none()) {
        Some(header) => {
            chats.correct_visitor_name(&header, visitor_name, now).await?;
            header
        }
        None => {
            let update = VisitorHeaderUpdate {
                account_id: &channel.account_id,
                chat_id,
                required_state: chat
                    .as_ref()
                    .map_or(RequiredState::AnyOpen, |chat| RequiredState::Unchanged(chat.state.name())),
                preview: MessagePreview::of(new.content, &Sender::Visitor, now),
                visitor_name: Some(visitor_name),
                has_numeric_id: new.has_numeric_id,
                new_invite,
                entry_count: 1 + notification_count,
                is_message: new.is_message(),
                max_messages: settings.limits.visitor_messages,
                now,
            };
            chats.advance_header_for_visitor(&update).await?
        }
    };
    header.seq = header.seq.saturating_sub(notification_count);
    let entry = new.timeline_entry(&header)?;
    if message_events > 0 {
        notifications.extend(new.context(None).message_notifications(WebhookEvent::Message, entry.seq));
    }
    // Without notifications, which report the visitor's data, the visitor need not be in the entry's transaction.
    let visitor_write = if notifications.is_empty() {
        chats.store_visitor_changes(&visitor).await?;
        None
    } else {
        visitor_update_write(&visitor)?
    };
    let notifications = context.create_entries(&mut header, notifications)?;

    let mut others = notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
    others.extend(visitor_write);
    others.extend(new_invite.map(|invite| invite_write(&header, invite)));
    let counters = new.finished_call_counters();
    if !counters.is_empty() {
        others.push(count_write(&header, &counters));
    }
    others.extend(call_slot.iter().flat_map(|slot| slot.writes(entry.chat_id, entry.seq, now)));
    chats.store_entry_with(&entry, key, others).await?;
    Ok(StoredEntry { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
}
