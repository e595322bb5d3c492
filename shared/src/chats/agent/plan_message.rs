//! An agent plans a message, which the service sends later, or cancels it. While the chat is open, the message is sent
//! in the name of its author, even if another agent or a bot has the chat by then. In a closed chat, it is not sent: a
//! private note tells the author. A deleted agent's message is not sent either.

use crate::chats::agent::add_note::{NewNote, add_note};
use crate::chats::agent::send_agent_message::{counting_writes, store_agent_message};
use crate::chats::notifications::NotificationContext;
use crate::chats::visitor::visitor_entry::StoredEntry;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatEvent;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::planned_message::PlannedMessage;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::planned_messages::{Planned, sent_write};
use crate::store::chats::writes::agent_message_header::AgentHeaderUpdate;
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

/// What the note of a message that was not sent begins with.
const CHAT_CLOSED: &str = "This planned message was not sent, because the chat was closed";
const AUTHOR_DELETED: &str = "This planned message was not sent, because its author has been deleted";

/// Stores a planned message. A repeated request with the same id and the same message changes nothing. The receipt of
/// `key` is stored, too; the caller must look for an earlier one.
///
/// # Errors
/// Fails with `NotFound` if the chat does not exist, with `Conflict` if the agent does not have the chat or if it has too
/// many planned messages, and with `IdempotencyMismatch` if another message is planned with the same id.
pub async fn plan_message(
    chats: &Chats,
    planned: &PlannedMessage,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Result<(), Error> {
    match chats.store_planned(planned, key, now).await? {
        Planned::Stored => Ok(()),
        Planned::Existing(existing) if existing.is_repetition_of(planned) => Ok(()),
        Planned::Existing(_) => Err(Error::IdempotencyMismatch),
        Planned::Refused(None) => Err(Error::NotFound),
        Planned::Refused(Some(chat)) => {
            chat.state.after_event(ChatEvent::AgentWrites(&planned.agent))?;
            Err(Error::Conflict("a chat has at most 10 planned messages"))
        }
    }
}

/// Cancels a planned message.
///
/// # Errors
/// Fails with `Conflict` if the message is being sent or was sent.
pub async fn cancel_planned_message(chats: &Chats, planned: &PlannedMessage, now: Timestamp) -> Result<(), Error> {
    let is_cancelled = chats.cancel_planned(planned, now).await?;
    if is_cancelled { Ok(()) } else { Err(Error::Conflict("the message is being sent")) }
}

/// Sends a message that this process has claimed; see [`Chats::claim_planned_message`]. The caller must queue the
/// message and its notifications. Returns `None` if the message was not sent because its chat was closed or erased, or
/// if another process has sent it.
///
/// The message is stored in the transaction that deletes the plan, so it is sent once, even if a process dies.
pub async fn send_planned_message(
    chats: &Chats,
    planned: &PlannedMessage,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Option<StoredEntry>, Error> {
    let PlannedMessage { account_id, chat_id, planned_id, .. } = planned;
    let mut races = WriteRaces::new("planned message");
    loop {
        if chats.planned_message(account_id, *chat_id, planned_id).await?.is_none() {
            return Ok(None);
        }
        let Some(chat) = chats.chat(account_id, *chat_id).await? else {
            return chats.delete_planned(planned).await.map(|()| None);
        };
        if chat.state.is_closed() {
            let mentions = [planned.agent.agent_id];
            return replace_with_note(chats, chat, planned, (CHAT_CLOSED, &mentions), now).await.map(|()| None);
        }
        let written = write_message(chats, planned, webhooks, now).await;
        if let Some(result) = races.final_result(written) {
            return result.map(Some);
        }
    }
}

async fn write_message(
    chats: &Chats,
    planned: &PlannedMessage,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<StoredEntry, WriteError> {
    let PlannedMessage { account_id, chat_id, agent, text, .. } = planned;
    let (chat_id, content) = (*chat_id, Content::text(text));
    let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now };
    let entry_count = 1 + context.subscriber_count(WebhookEvent::Message);
    let update =
        AgentHeaderUpdate { account_id, chat_id, agent, content: &content, must_own_chat: false, entry_count, now };
    let mut header = chats.advance_header_for_agent(&update).await?;
    // Only what the agent of a chat writes is an answer.
    let is_answer = header.state.agent().is_some_and(|owner| owner.agent_id == agent.agent_id);
    let mut writes = if is_answer { counting_writes(&header, None, now) } else { Vec::new() };
    writes.push(sent_write(planned));
    store_agent_message(chats, &mut header, (agent, &content), &context, (None, writes)).await
}

/// Adds a private note in place of a claimed message whose author has been deleted. The note mentions the agent who has
/// the chat.
///
/// # Errors
/// Fails if the table is unavailable. The call can be repeated.
pub async fn replace_message_of_deleted_agent(
    chats: &Chats,
    planned: &PlannedMessage,
    now: Timestamp,
) -> Result<(), Error> {
    let PlannedMessage { account_id, chat_id, planned_id, agent: author, .. } = planned;
    if chats.planned_message(account_id, *chat_id, planned_id).await?.is_none() {
        return Ok(());
    }
    let Some(chat) = chats.chat(account_id, *chat_id).await? else { return chats.delete_planned(planned).await };
    let agent_id = chat.state.agent().map(|agent| agent.agent_id).filter(|agent_id| *agent_id != author.agent_id);
    let mentions: Vec<u64> = agent_id.into_iter().collect();
    replace_with_note(chats, chat, planned, (AUTHOR_DELETED, &mentions), now).await
}

/// Deletes a planned message whose chat has expired. Such a message cannot be claimed.
///
/// # Errors
/// Fails if the table is unavailable. The call can be repeated.
pub async fn delete_if_chat_is_gone(chats: &Chats, planned: &PlannedMessage) -> Result<(), Error> {
    match chats.chat(&planned.account_id, planned.chat_id).await? {
        Some(_) => Ok(()),
        None => chats.delete_planned(planned).await,
    }
}

/// Adds a private note, and deletes the plan. The key prevents a second note if the process dies in between.
async fn replace_with_note(
    chats: &Chats,
    chat: Chat,
    planned: &PlannedMessage,
    (reason, mentions): (&str, &[u64]),
    now: Timestamp,
) -> Result<(), Error> {
    let PlannedMessage { account_id, chat_id, planned_id, agent, text, send_at, .. } = planned;
    // Another agent may use the same id, and so may this one after the message is gone.
    let scope = format!("{account_id}#{chat_id}#{}#unsent", agent.agent_id);
    let key = IdempotencyKey::new(scope, format!("{planned_id}#{}", send_at.0).as_bytes(), text);
    let text = format!("{reason}:\n\n{text}");
    let note = NewNote { agent, text: &text, mentions, key: Some(&key), now };
    match add_note(chats, chat, &note).await {
        Ok(_) | Err(Error::NotFound) => chats.delete_planned(planned).await,
        Err(error) => Err(error),
    }
}
