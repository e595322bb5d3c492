//! Opens a chat with an entry from a visitor. First assigns the chat number and, if needed, the visitor number. Then
//! stores all items in one transaction.

use crate::chats::new_chat::{ChatVisitor, NewChat, had_numeric_id};
use crate::chats::visitor::visitor_entry::{FromVisitor, StoredEntry, VisitorEntry};
use crate::domain::chats::chat::{Chat, MessagePreview, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::idempotency_key::MessageReceipt;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::report::Counter;
use crate::domain::visitors::visitor::Visitor;
use crate::store::chats::listing::panels::{invite_hash, invite_write};
use crate::store::chats::report_counters::count_write;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::WriteError;

/// `existing` is the visitor, unless the entry is the visitor's first one.
pub(super) async fn open_chat(
    chats: &Chats,
    new: &VisitorEntry<'_>,
    existing: Option<Visitor>,
) -> Result<StoredEntry, WriteError> {
    let FromVisitor { channel, external_id, network, settings, department, key, now, .. } = new.from;
    let new_chat = NewChat { channel, external_id, network, department, settings, now };
    let call_slot = new.call_slot(chats).await?;
    let has_numeric_id = match new.has_numeric_id {
        Some(has_numeric_id) => has_numeric_id,
        None => had_numeric_id(chats, &channel.account_id, existing.as_ref()).await?,
    };
    let mut of = new_chat.assign_to_visitor(chats, existing).await?;
    new.update_visitor(&mut of.visitor);
    let mut header = Chat { has_numeric_id, ..header(new, &new_chat, &of) };
    let entry = new.timeline_entry(&header)?;
    let context = new.context(None);
    let mut notifications = new.notifications(None, &header.state);
    notifications.extend(context.ownership_notifications(None, &header));
    if new.is_text() {
        notifications.extend(context.message_notifications(WebhookEvent::Message, entry.seq));
    }
    let notifications = context.create_entries(&mut header, notifications)?;

    let mut writes = new_chat.writes(&of, &header)?;
    writes.push(entry_write(&entry)?);
    writes.push(count_write(&header, &[vec![Counter::OpenedChats], new.finished_call_counters()].concat()));
    writes.extend(notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?);
    writes.extend(new.invite().map(|invite| invite_write(&header, invite)));
    if let Some(key) = key {
        writes.push(key.receipt_write(&entry)?);
    }
    writes.extend(call_slot.iter().flat_map(|slot| slot.writes(entry.chat_id, entry.seq, now)));
    chats.transact(writes).await?;
    Ok(StoredEntry { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
}

fn header(new: &VisitorEntry<'_>, new_chat: &NewChat<'_>, of: &ChatVisitor) -> Chat {
    let bot_id = new.first_bot().map(str::to_owned);
    let state = ChatState::initial(bot_id.is_some());
    let first_message = MessagePreview::of(new.content, &Sender::Visitor, new.from.now);
    Chat {
        bot_id,
        invite_hash: new.invite().map(invite_hash),
        visitor_seq: u64::from(new.is_message()),
        ..new_chat.header(of, state, first_message)
    }
}
