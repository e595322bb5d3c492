//! An agent writes to a visitor whom the integrator of an API channel knows by an id. The message goes into the
//! visitor's open chat, whoever has it, or opens a chat that the agent then has.

use futures_util::future::try_join;

use crate::chats::agent::send_agent_message::{counting_writes, store_agent_message};
use crate::chats::new_chat::{NewChat, had_numeric_id};
use crate::chats::new_entry::new_entry;
use crate::chats::notifications::NotificationContext;
use crate::chats::visitor::visitor_entry::StoredEntry;
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::department::ChatDepartment;
use crate::domain::channels::channel::Channel;
use crate::domain::chats::chat::{Chat, MessagePreview, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::WebhookEventDetails;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::report::Counter;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::report_counters::count_write;
use crate::store::chats::writes::agent_message_header::AgentHeaderUpdate;
use crate::store::chats::{Chats, entry_write};
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

pub struct MessageToVisitor<'a> {
    pub channel: &'a Channel,
    /// The department of the chat that the message opens.
    pub department: Option<&'a ChatDepartment>,
    pub external_id: &'a str,
    pub agent: &'a AgentSnapshot,
    pub content: Content,
    pub settings: &'a AccountSettings,
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

/// Stores the message with its delivery. The caller must queue both the entry and the notifications.
///
/// # Errors
/// Fails with a conflict if the visitor is blacklisted. Also fails if the channel has opened too many chats, or if an
/// earlier request with the same idempotency key had a different body.
pub async fn message_visitor(chats: &Chats, message: &MessageToVisitor<'_>) -> Result<StoredEntry, Error> {
    let MessageToVisitor { channel, external_id, key, now, .. } = *message;
    let mut races = WriteRaces::new("message to a visitor");
    loop {
        let visitor = chats.visitor(&channel.channel_id, external_id);
        let (receipt, visitor) = try_join(chats.earlier_receipt(key), visitor).await?;
        if let Some(receipt) = receipt {
            return Ok(StoredEntry::repeated(receipt));
        }
        if visitor.as_ref().is_some_and(|visitor| visitor.blacklisted) {
            return Err(Error::Conflict("the visitor is blacklisted"));
        }
        let written = match visitor.as_ref().and_then(|visitor| visitor.open_chat) {
            Some(chat_id) => append(chats, message, chat_id).await,
            None => open(chats, message, visitor.map(|visitor| visitor.reset_if_expired(now))).await,
        };
        if let Some(result) = races.final_result(written) {
            return result;
        }
    }
}

async fn append(chats: &Chats, message: &MessageToVisitor<'_>, chat_id: u64) -> Result<StoredEntry, WriteError> {
    let MessageToVisitor { channel, agent, ref content, settings, key, now, .. } = *message;
    let account_id = &channel.account_id;
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: Some(agent.agent_id), now };
    let entry_count = 1 + context.subscriber_count(WebhookEvent::Message);
    let update = AgentHeaderUpdate { account_id, chat_id, agent, content, must_own_chat: false, entry_count, now };
    let mut header = chats.advance_header_for_agent(&update).await?;
    // Only what the agent of a chat writes is an answer.
    let is_answer = header.state.agent().is_some_and(|owner| owner.agent_id == agent.agent_id);
    let counted = if is_answer { counting_writes(&header, None, now) } else { Vec::new() };
    store_agent_message(chats, &mut header, (agent, content), &context, (key, counted)).await
}

async fn open(
    chats: &Chats,
    message: &MessageToVisitor<'_>,
    existing: Option<Visitor>,
) -> Result<StoredEntry, WriteError> {
    let MessageToVisitor { channel, department, external_id, agent, ref content, settings, key, now } = *message;
    let new_chat = NewChat { channel, external_id, network: None, department, settings, now };
    let has_numeric_id = had_numeric_id(chats, &channel.account_id, existing.as_ref()).await?;
    let of = new_chat.assign_to_visitor(chats, existing).await?;
    let first_message = MessagePreview::of(content, &Sender::Agent(agent.clone()), now);
    let mut header = Chat {
        has_numeric_id,
        participants: vec![agent.agent_id],
        agent_joined_at: Some(now),
        // Nobody has waited for an answer, so no later message is counted as the first one.
        first_answer_at: Some(now),
        ..new_chat.header(&of, ChatState::Active(agent.without_photo()), first_message)
    };
    let entry = new_entry(&header, Sender::Agent(agent.clone()), content.clone(), now)?;
    let entry = TimelineEntry { delivery: header.delivery_to_visitor(now), ..entry };
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: Some(agent.agent_id), now };
    let mut events = context.webhook_notifications(WebhookEvent::ChatAccepted, WebhookEventDetails::default());
    events.extend(context.ownership_notifications(None, &header));
    events.extend(context.message_notifications(WebhookEvent::Message, entry.seq));
    let mut notifications = context.create_entries(&mut header, events)?;
    notifications.iter_mut().for_each(|entry| entry.caused_by = Some(agent.without_photo()));

    let mut writes = new_chat.writes(&of, &header)?;
    writes.push(entry_write(&entry)?);
    writes.push(count_write(&header, &[Counter::OpenedChats]));
    writes.extend(notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?);
    if let Some(key) = key {
        writes.push(key.receipt_write(&entry)?);
    }
    chats.transact(writes).await?;
    Ok(StoredEntry { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
}
