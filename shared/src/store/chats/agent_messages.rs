//! What an agent's request writes. A message is two writes: the header, which takes the next number and checks
//! that the agent has the chat, and the entry.

use crate::domain::account::Author;
use crate::domain::chat::{Chat, Preview, Sender};
use crate::domain::chat_state::Event;
use crate::domain::content::Content;
use crate::domain::delivery::{Delivery, Target};
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::error::{Context, Error};
use crate::store::chats::idempotency::{Answered, IdempotencyKey};
use crate::store::chats::items::PreviewItem;
use crate::store::chats::{Chats, chat, head_key};
use crate::store::table::{ItemUpdate, Refused, n, s};
use crate::store::{MAX_RACE_ATTEMPTS, to_attribute};

/// An agent's message on its way out.
pub struct Outgoing<'a> {
    /// The account.
    pub account_id: &'a str,
    /// The chat.
    pub chat_id: u64,
    /// Who writes.
    pub agent: &'a Author,
    /// What they write.
    pub content: Content,
    /// The caller's key, if any.
    pub key: Option<&'a IdempotencyKey>,
    /// Now.
    pub now: Timestamp,
}

impl Chats {
    /// Stores an agent's message with the duty to deliver it. The agent must have the chat.
    pub async fn agent_message(&self, outgoing: &Outgoing<'_>) -> Result<Answered, Error> {
        for _ in 0..MAX_RACE_ATTEMPTS {
            if let Some(answered) = self.answered(outgoing.key).await? {
                return Ok(answered);
            }
            match self.write_agent_message(outgoing).await {
                Ok(answered) => return Ok(answered),
                Err(Refused::Error(error)) => return Err(error),
                Err(Refused::Condition { .. } | Refused::Contended) => {}
            }
        }
        Err(Error::Unavailable(Context::new("agent message lost every race")))
    }

    async fn write_agent_message(&self, outgoing: &Outgoing<'_>) -> Result<Answered, Refused> {
        let chat = self.advance_for_agent(outgoing).await?;
        let id = crate::runtime::secret::message_id(chat.chat_id, chat.seq, outgoing.now)?;
        let entry = Entry {
            keep_until: chat.keep_until(outgoing.now),
            account_id: chat.account_id,
            chat_id: chat.chat_id,
            seq: chat.seq,
            id,
            from: Sender::Agent(outgoing.agent.clone()),
            content: outgoing.content.clone(),
            at: outgoing.now,
            occurrence: None,
            delivery: Some(Delivery::new(Target::Channel, outgoing.now)),
        };
        self.store_entry(&entry, outgoing.key).await?;
        Ok(Answered::of(&entry))
    }

    /// Takes the next number if the agent has the chat; the refused write brings the header that says why not.
    async fn advance_for_agent(&self, outgoing: &Outgoing<'_>) -> Result<Chat, Refused> {
        let preview = Preview::of(&outgoing.content, &Sender::Agent(outgoing.agent.clone()), outgoing.now);
        let change = ItemUpdate {
            key: head_key(outgoing.account_id, outgoing.chat_id),
            update: "SET #seq = #seq + :one, #updated_at = :now, #last_message = :preview",
            condition: "#state = :active AND #agent.#agent_id = :me",
            values: vec![
                (":one", n(1)),
                (":now", n(outgoing.now.0)),
                (":preview", to_attribute(&PreviewItem::from(&preview))?),
                (":active", s("active")),
                (":me", n(outgoing.agent.agent_id)),
            ],
        };
        match self.table.update(change).await {
            Ok(item) => Ok(chat(item)?),
            Err(Refused::Condition { item: None, .. }) => Err(Error::NotFound.into()),
            Err(Refused::Condition { item: Some(item), index }) => {
                let found = chat(item)?;
                let refusal = found.state.after(Event::AgentWrites(outgoing.agent)).err();
                if let Some(refusal) = refusal {
                    return Err(Refused::Error(refusal.into()));
                }
                Err(Refused::Condition { index, item: None })
            }
            Err(refused) => Err(refused),
        }
    }
}
