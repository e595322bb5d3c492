//! Stores messages from agents. Each message takes two writes. The first updates the chat's header, which assigns the
//! next entry number and checks that the agent owns the chat. The second stores the entry. The second write is a
//! transaction if it also stores the receipt of an idempotency key, or counts the chat's first answer for the reports.

use crate::domain::agent::AgentSnapshot;
use crate::domain::chat::{Chat, MessagePreview, Sender};
use crate::domain::chat_state::ChatEvent;
use crate::domain::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::message_content::Content;
use crate::domain::report::{Bucket, Counter};
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::MessagePreviewItem;
use crate::store::chats::report_counters::count_write;
use crate::store::chats::{Chats, chat_from_item, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;
use crate::store::write_races::WriteRaces;

pub struct AgentMessage<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    pub agent: &'a AgentSnapshot,
    pub content: Content,
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

impl Chats {
    /// Stores an agent's message, in an API channel together with its delivery. Fails with a conflict if the agent does
    /// not own the chat.
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
        let chat = self.advance_header_for_agent(outgoing, 1).await?;
        let first_answer = first_answer_writes(&chat, outgoing.now);
        let id = crate::runtime::random_ids_and_secrets::new_message_id(chat.chat_id, chat.seq, outgoing.now)?;
        let entry = TimelineEntry {
            retain_until: chat.retain_until(outgoing.now),
            delivery: chat.delivery_to_visitor(outgoing.now),
            account_id: chat.account_id,
            chat_id: chat.chat_id,
            seq: chat.seq,
            id,
            from: Sender::Agent(outgoing.agent.clone()),
            content: outgoing.content.clone(),
            at: outgoing.now,
            caused_by: None,
            webhook_dispatch: None,
        };
        self.store_entry_with(&entry, outgoing.key, first_answer).await?;
        Ok(MessageReceipt::of(&entry))
    }

    /// Assigns the next `entry_count` entry numbers and returns the new header, whose `seq` is the last of them. If the
    /// condition fails, the header that DynamoDB returns with the error shows why.
    pub(crate) async fn advance_header_for_agent(
        &self,
        outgoing: &AgentMessage<'_>,
        entry_count: usize,
    ) -> Result<Chat, WriteError> {
        let preview = MessagePreview::of(&outgoing.content, &Sender::Agent(outgoing.agent.clone()), outgoing.now);
        let update = ItemUpdate {
            key: header_key(outgoing.account_id, outgoing.chat_id),
            update: "SET #seq = #seq + :count, #updated_at = :now, #last_message = :preview",
            condition: "#state = :active AND #agent.#agent_id = :agent_id",
            values: vec![
                (":count", n(entry_count)),
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

/// Returns the writes that record and count the chat's first answer. Returns nothing if the chat already has one. If
/// two first answers are stored concurrently, one of their transactions fails.
fn first_answer_writes(chat: &Chat, now: Timestamp) -> Vec<Write> {
    if chat.first_answer_at.is_some() {
        return Vec::new();
    }
    let header = ItemUpdate {
        key: header_key(&chat.account_id, chat.chat_id),
        update: "SET #first_answer_at = :now",
        condition: "attribute_exists(#pk) AND attribute_not_exists(#first_answer_at)",
        values: vec![(":now", n(now.0))],
    };
    let wait = Bucket::of(now.since(chat.opened_at));
    vec![Write::Update(header), count_write(chat, &[Counter::FirstAnswer(wait)])]
}
