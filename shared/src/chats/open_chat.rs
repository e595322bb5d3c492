//! Opens a chat with an entry from a visitor. First assigns the chat number and, if needed, the visitor number. Then
//! stores all items in one transaction.

use std::collections::BTreeMap;

use crate::chats::visitor::visitor_entry::{FromVisitor, StoredEntry, VisitorEntry};
use crate::domain::chats::chat::{BotAnswers, Chat, MAX_HEADER_NAME_CHARS, MessagePreview, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::idempotency_key::MessageReceipt;
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::report::Counter;
use crate::domain::time_zone::Day;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::listing::panels::{invite_hash, invite_write};
use crate::store::chats::report_counters::count_write;
use crate::store::chats::visitors::visitor_updates::{
    visitor_number_retain_write, visitor_number_write, visitor_write,
};
use crate::store::chats::writes::visitor_message_header::new_header_write;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::WriteError;

/// `existing` is the visitor, unless the entry is the visitor's first one.
pub(super) async fn open_chat(
    chats: &Chats,
    new: &VisitorEntry<'_>,
    existing: Option<Visitor>,
) -> Result<StoredEntry, WriteError> {
    let FromVisitor { channel, external_id, network, settings, key, now, .. } = new.from;
    let is_new = existing.is_none();
    let call_slot = new.call_slot(chats).await?;
    let has_numeric_id = has_numeric_id(chats, new, existing.as_ref()).await?;
    chats.count_opened_chat(&channel.channel_id, network, settings.limits.channel_chats, now).await?;
    let numbers = chats.assign_chat_number(&channel.account_id, is_new).await?;

    let mut visitor = existing.unwrap_or_else(|| Visitor::new(channel, external_id, numbers.visitors));
    new.update_visitor(&mut visitor);
    visitor.chats += 1;
    visitor.open_chat = Some(numbers.chats);
    let previous_chat = visitor.last_chat;
    let previous_chats = visitor.start_chat(numbers.chats);
    let mut header = Chat { previous_chats, has_numeric_id, ..new_header(new, &visitor, numbers.chats) };
    let entry = new.timeline_entry(&header)?;
    let context = new.context(None);
    let mut notifications = new.notifications(None, &header.state);
    notifications.extend(context.ownership_notifications(None, &header));
    let notifications = context.create_entries(&mut header, notifications)?;

    let mut writes = vec![
        visitor_write(&visitor, is_new, previous_chat)?,
        new_header_write(&header, settings.next_idle_check(now, now), now)?,
        entry_write(&entry)?,
        count_write(&header, &[vec![Counter::OpenedChats], new.finished_call_counters()].concat()),
    ];
    writes.extend(notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?);
    writes.extend(new.invite().map(|invite| invite_write(&header, invite)));
    if is_new {
        writes.push(visitor_number_write(&visitor)?);
    } else if visitor.retain_until.is_some() {
        writes.push(visitor_number_retain_write(&visitor));
    }
    if let Some(key) = key {
        writes.push(key.receipt_write(&entry)?);
    }
    writes.extend(call_slot.iter().flat_map(|slot| slot.writes(entry.chat_id, entry.seq, now)));
    chats.transact(writes).await?;
    Ok(StoredEntry { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
}

/// Returns whether the visitor's id was a JSON number in the entry or, if the entry has no id, in the visitor's last
/// chat.
async fn has_numeric_id(chats: &Chats, new: &VisitorEntry<'_>, visitor: Option<&Visitor>) -> Result<bool, Error> {
    let last_chat = visitor.and_then(|visitor| visitor.last_chat);
    Ok(match (new.has_numeric_id, last_chat) {
        (Some(has_numeric_id), _) => has_numeric_id,
        (None, Some(chat_id)) => {
            let chat = chats.chat(&new.from.channel.account_id, chat_id).await?;
            chat.is_some_and(|chat| chat.has_numeric_id)
        }
        (None, None) => false,
    })
}

fn new_header(new: &VisitorEntry<'_>, visitor: &Visitor, chat_id: u64) -> Chat {
    let FromVisitor { channel, department, settings, now, .. } = new.from;
    let bot_id = new.first_bot().map(str::to_owned);
    let state = ChatState::initial(bot_id.is_some());
    Chat {
        account_id: visitor.account_id.clone(),
        chat_id,
        version: 1,
        channel_id: visitor.channel_id.clone(),
        channel_kind: channel.settings.kind(),
        channel_name: truncate_chars(&channel.settings.name, MAX_HEADER_NAME_CHARS),
        external_id: visitor.external_id.clone(),
        has_numeric_id: false,
        invite_hash: new.invite().map(invite_hash),
        visitor_number: visitor.number,
        visitor_name: truncate_chars(visitor.profile.display_name(), MAX_HEADER_NAME_CHARS),
        department: department.cloned(),
        participants: Vec::new(),
        bot_id,
        former_bots: Vec::new(),
        given_to_bot_at: None,
        visitor_seq: u64::from(new.is_message()),
        bot_answers: BotAnswers::default(),
        bot_event_at: None,
        repeated_to_bot: None,
        handover: None,
        seq: 1,
        opened_at: now,
        opened_on: Day::of(now, &settings.time_zone),
        first_answer_at: None,
        agent_joined_at: None,
        updated_at: now,
        other_change_at: None,
        last_message: Some(MessagePreview::of(new.content, &Sender::Visitor, now)),
        waiting_since: state.is_waiting().then_some(now),
        state,
        typing_started_at: None,
        typing_text: None,
        failing_until: BTreeMap::new(),
        undelivered: Vec::new(),
        rating: None,
        retention_days: settings.retention_days,
        previous_chats: Vec::new(),
    }
}
