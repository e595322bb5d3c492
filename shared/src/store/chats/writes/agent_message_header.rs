//! The header updates of an agent's message or call, which assign the entry's number and check that the agent owns the
//! chat.

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::{Chat, MessagePreview, Sender};
use crate::domain::chats::chat_state::{ChatEvent, ChatState};
use crate::domain::chats::message_content::Content;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::MessagePreviewItem;
use crate::store::chats::{Chats, chat_from_item, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;

pub(crate) struct AgentHeaderUpdate<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    pub agent: &'a AgentSnapshot,
    pub content: &'a Content,
    /// Whether only the agent who has the chat may write. Otherwise, the chat only has to be open.
    pub must_own_chat: bool,
    /// How many entry numbers the update assigns.
    pub entry_count: usize,
    pub now: Timestamp,
}

impl Chats {
    /// Assigns the next entry numbers and returns the new header, whose `seq` is the last of them. Fails with a
    /// conflict if the agent must own the chat and does not. If any agent may write, fails with `Contended` if the chat
    /// is not open any more.
    pub(crate) async fn advance_header_for_agent(&self, update: &AgentHeaderUpdate<'_>) -> Result<Chat, WriteError> {
        let AgentHeaderUpdate { account_id, chat_id, agent, content, must_own_chat, entry_count, now } = *update;
        let preview = MessagePreview::of(content, &Sender::Agent(agent.clone()), now);
        let mut values = vec![
            (":count", n(entry_count)),
            (":now", n(now.0)),
            (":preview", to_attribute(&MessagePreviewItem::from(&preview))?),
        ];
        let condition = if must_own_chat {
            values.extend([(":active", s("active")), (":agent_id", n(agent.agent_id))]);
            "#state = :active AND #agent.#agent_id = :agent_id"
        } else {
            values.push((":closed", s(ChatState::Closed(None).name())));
            "attribute_exists(#pk) AND #state <> :closed AND attribute_not_exists(#erasing)"
        };
        let update = ItemUpdate {
            key: header_key(account_id, chat_id),
            update: "SET #seq = #seq + :count, #updated_at = :now, #last_message = :preview",
            condition,
            values,
        };
        match self.table.update(update).await {
            Ok(item) => Ok(chat_from_item(item)?),
            Err(WriteError::ConditionFailed { .. }) if !must_own_chat => Err(WriteError::Contended),
            Err(WriteError::ConditionFailed { item: None, .. }) => Err(Error::NotFound.into()),
            // The header that DynamoDB returns with the error shows why the condition failed.
            Err(WriteError::ConditionFailed { item: Some(item), index }) => {
                let found = chat_from_item(item)?;
                found.state.after_event(ChatEvent::AgentWrites(agent)).map_err(Error::from)?;
                Err(WriteError::ConditionFailed { index, item: None })
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the write that records the chat's first answer. If two first answers are stored concurrently, one of their
/// transactions fails.
pub(crate) fn first_answer_write(chat: &Chat, now: Timestamp) -> Write {
    Write::Update(ItemUpdate {
        key: header_key(&chat.account_id, chat.chat_id),
        update: "SET #first_answer_at = :now",
        condition: "attribute_exists(#pk) AND attribute_not_exists(#first_answer_at)",
        values: vec![(":now", n(now.0))],
    })
}
