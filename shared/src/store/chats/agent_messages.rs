//! Stores messages from agents. Each message takes two writes. The first updates the chat's header, which assigns the
//! next entry number and checks that the agent owns the chat. The second stores the entry.

use crate::domain::agent::AgentSnapshot;
use crate::domain::chat::{Chat, MessagePreview, Sender};
use crate::domain::chat_state::ChatEvent;
use crate::domain::delivery::{Delivery, Target};
use crate::domain::idempotency_key::IdempotencyKey;
use crate::domain::message_content::Content;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::idempotency_receipts::MessageReceipt;
use crate::store::chats::items::MessagePreviewItem;
use crate::store::chats::{Chats, chat_from_item, header_key};
use crate::store::table::{ItemUpdate, WriteError, n, s};
use crate::store::to_attribute;
use crate::store::write_races::WriteRaces;

/// A message from an agent to the visitor.
pub struct AgentMessage<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    pub agent: &'a AgentSnapshot,
    pub content: Content,
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

impl Chats {
    /// Stores an agent's message together with its delivery to the channel. Fails with a conflict if the agent does not
    /// own the chat. Costs two writes. An idempotency key adds one read, and turns the second write into a transaction
    /// of two writes.
    pub async fn store_agent_message(&self, outgoing: &AgentMessage<'_>) -> Result<MessageReceipt, Error> {
        let mut races = WriteRaces::new("agent message");
        loop {
            if let Some(receipt) = self.earlier_receipt(outgoing.key).await? {
                return Ok(receipt);
            }
            let written = self.write_agent_message(outgoing).await;
            if let Some(result) = races.final_result(written) {
                return result;
            }
        }
    }

    async fn write_agent_message(&self, outgoing: &AgentMessage<'_>) -> Result<MessageReceipt, WriteError> {
        let chat = self.advance_header_for_agent(outgoing).await?;
        let id = crate::runtime::random_ids_and_secrets::new_message_id(chat.chat_id, chat.seq, outgoing.now)?;
        let entry = TimelineEntry {
            retain_until: chat.retain_until(outgoing.now),
            account_id: chat.account_id,
            chat_id: chat.chat_id,
            seq: chat.seq,
            id,
            from: Sender::Agent(outgoing.agent.clone()),
            content: outgoing.content.clone(),
            at: outgoing.now,
            webhook_dispatch: None,
            delivery: Some(Delivery::new(Target::Channel, outgoing.now)),
        };
        self.store_entry(&entry, outgoing.key).await?;
        Ok(MessageReceipt::of(&entry))
    }

    /// Assigns the next entry number. If the condition fails, the header that DynamoDB returns with the error shows
    /// why.
    async fn advance_header_for_agent(&self, outgoing: &AgentMessage<'_>) -> Result<Chat, WriteError> {
        let preview = MessagePreview::of(&outgoing.content, &Sender::Agent(outgoing.agent.clone()), outgoing.now);
        let update = ItemUpdate {
            key: header_key(outgoing.account_id, outgoing.chat_id),
            update: "SET #seq = #seq + :one, #updated_at = :now, #last_message = :preview",
            condition: "#state = :active AND #agent.#agent_id = :agent_id",
            values: vec![
                (":one", n(1)),
                (":now", n(outgoing.now.0)),
                (":preview", to_attribute(&MessagePreviewItem::from(&preview))?),
                (":active", s("active")),
                (":agent_id", n(outgoing.agent.agent_id)),
            ],
        };
        match self.table.update(update).await {
            Ok(item) => Ok(chat_from_item(item)?),
            Err(WriteError::ConditionFailed { item: None, .. }) => Err(Error::NotFound.into()),
            Err(WriteError::ConditionFailed { item: Some(item), index }) => {
                let found = chat_from_item(item)?;
                found.state.after_event(ChatEvent::AgentWrites(outgoing.agent)).map_err(Error::from)?;
                Err(WriteError::ConditionFailed { index, item: None })
            }
            Err(error) => Err(error),
        }
    }
}
