//! Sends an agent's message. Each message takes two writes. The first updates the chat's header, which assigns the next
//! entry number and checks that the agent owns the chat. The second stores the entry. The second write is a transaction
//! if it also stores the receipt of an idempotency key, or counts the chat's first answer, or the use of a bot's draft,
//! for the reports.

use crate::chats::new_entry::new_entry;
use crate::chats::notifications::NotificationContext;
use crate::chats::visitor::visitor_entry::StoredEntry;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::bot_draft::DraftUse;
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::report::{Bucket, Counter};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::report_counters::count_write;
use crate::store::chats::writes::agent_message_header::{AgentHeaderUpdate, first_answer_write};
use crate::store::chats::{Chats, entry_write};
use crate::store::table::{Write, WriteError};
use crate::store::write_races::WriteRaces;

pub struct AgentMessage<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    pub agent: &'a AgentSnapshot,
    pub content: Content,
    /// What the message has made of a bot's draft. `None` if it has nothing to do with one.
    pub draft: Option<DraftUse>,
    /// All of the account's webhooks.
    pub webhooks: &'a [Webhook],
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

/// Stores an agent's message, in an API channel together with its delivery. Fails with a conflict if the agent does not
/// own the chat.
pub async fn send_agent_message(chats: &Chats, message: &AgentMessage<'_>) -> Result<StoredEntry, Error> {
    let mut races = WriteRaces::new("agent message");
    loop {
        if let Some(receipt) = chats.earlier_receipt(message.key).await? {
            return Ok(StoredEntry::repeated(receipt));
        }
        let written = write_message(chats, message).await;
        if let Some(result) = races.final_result(written) {
            return result;
        }
    }
}

async fn write_message(chats: &Chats, message: &AgentMessage<'_>) -> Result<StoredEntry, WriteError> {
    let AgentMessage { account_id, chat_id, agent, ref content, draft, webhooks, key, now } = *message;
    let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now };
    let entry_count = 1 + context.subscriber_count(WebhookEvent::Message);
    let update = AgentHeaderUpdate { account_id, chat_id, agent, content, must_own_chat: true, entry_count, now };
    let mut header = chats.advance_header_for_agent(&update).await?;
    let counted = counting_writes(&header, draft, now);
    store_agent_message(chats, &mut header, (agent, content), &context, (key, counted)).await
}

/// Stores a message under the first of the entry numbers that were assigned with `header`, and the events that report
/// it under the others.
pub(super) async fn store_agent_message(
    chats: &Chats,
    header: &mut Chat,
    (agent, content): (&AgentSnapshot, &Content),
    context: &NotificationContext<'_>,
    (key, mut others): (Option<&IdempotencyKey>, Vec<Write>),
) -> Result<StoredEntry, WriteError> {
    let now = context.now;
    header.seq = header.seq.saturating_sub(context.subscriber_count(WebhookEvent::Message) as u64);
    let delivery = header.delivery_to_visitor(now);
    let entry = new_entry(header, Sender::Agent(agent.clone()), content.clone(), now)?;
    let entry = TimelineEntry { delivery, ..entry };
    let events = context.message_notifications(WebhookEvent::Message, entry.seq);
    let notifications = context.create_entries(header, events)?;
    others.extend(notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?);
    chats.store_entry_with(&entry, key, others).await?;
    Ok(StoredEntry { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
}

/// Returns the writes that record and count the chat's first answer, and count the use of a draft. Returns nothing if
/// the chat already has an answer and there was no draft.
pub(super) fn counting_writes(chat: &Chat, draft: Option<DraftUse>, now: Timestamp) -> Vec<Write> {
    let is_first = chat.first_answer_at.is_none();
    let wait = Bucket::of(now.since(chat.opened_at));
    let first = is_first.then_some(Counter::FirstAnswer(wait));
    let counters: Vec<Counter> = first.into_iter().chain(draft.map(Counter::UsedDrafts)).collect();
    let counted = (!counters.is_empty()).then(|| count_write(chat, &counters));
    is_first.then(|| first_answer_write(chat, now)).into_iter().chain(counted).collect()
}
