//! Calls a visitor for an agent. Delivering the entry of the call orders it from the telephony provider.

use crate::chats::new_entry::new_entry;
use crate::chats::notifications::NotificationContext;
use crate::chats::visitor::visitor_entry::StoredEntry;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::calls::phone_call::{Call, CallStatus};
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, Target};
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::writes::agent_message_header::AgentHeaderUpdate;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

pub struct AgentCall<'a> {
    pub chat: &'a Chat,
    pub agent: &'a AgentSnapshot,
    pub call: Call,
    pub webhooks: &'a [Webhook],
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

/// Stores an agent's call to the visitor, with its pending delivery.
///
/// # Errors
/// Fails with a conflict if the agent does not own the chat, if the visitor or the number has a call in progress, or if
/// the balance is used up.
pub async fn call_visitor(chats: &Chats, outgoing: &AgentCall<'_>) -> Result<StoredEntry, Error> {
    let mut races = WriteRaces::new("call of an agent");
    loop {
        if let Some(receipt) = chats.earlier_receipt(outgoing.key).await? {
            return Ok(StoredEntry { receipt, entry: None, notifications: Vec::new() });
        }
        let written = write_call(chats, outgoing).await;
        if let Some(result) = races.final_result(written) {
            return result;
        }
    }
}

async fn write_call(chats: &Chats, outgoing: &AgentCall<'_>) -> Result<StoredEntry, WriteError> {
    let AgentCall { chat, agent, call, webhooks, key, now } = outgoing;
    let visitor = (chat.channel_id.as_str(), chat.external_id.as_str());
    let slot = chats.free_call_slot(&chat.account_id, visitor, call, None, *now).await?;
    let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now: *now };
    let events = context.call_notifications(call, [&CallStatus::Start]);
    let content = Content::Call(Box::new(call.clone()));
    let update = AgentHeaderUpdate {
        account_id: &chat.account_id,
        chat_id: chat.chat_id,
        agent,
        content: &content,
        must_own_chat: true,
        entry_count: 1 + events.len(),
        now: *now,
    };
    let mut header = chats.advance_header_for_agent(&update).await?;
    header.seq = header.seq.saturating_sub(events.len() as u64);
    let delivery = Some(Delivery::new(Target::Call, *now));
    let entry = TimelineEntry { delivery, ..new_entry(&header, Sender::Agent((*agent).clone()), content, *now)? };
    let events = context.create_entries(&mut header, events)?;
    let mut others = events.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
    others.extend(slot.writes(entry.chat_id, entry.seq, *now));
    chats.store_entry_with(&entry, *key, others).await?;
    Ok(StoredEntry { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications: events })
}
