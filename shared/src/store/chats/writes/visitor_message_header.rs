//! The writes of a chat's header for an entry from a visitor. The update of an open chat's header assigns the entry's
//! number, counts the message and requires an open chat, so that the header need not be read first.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::chats::chat::{Chat, MAX_HEADER_NAME_CHARS, MessagePreview};
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::{HeaderItem, MessagePreviewItem};
use crate::store::chats::listing::panels::invite_hash;
use crate::store::chats::visitors::visitor_message_rate::{MessageCount, RequiredState, first_message_count};
use crate::store::chats::{Chats, chat_from_item, header_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Write, WriteError, n, s};
use crate::store::{to_attribute, to_item};

pub(crate) struct VisitorHeaderUpdate<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    pub required_state: RequiredState,
    pub preview: MessagePreview,
    /// `None` if the visitor has not been read yet. The update then keeps the name, and fails if the visitor must be
    /// read first.
    pub visitor_name: Option<&'a str>,
    /// `None` keeps the type of the visitor's id.
    pub has_numeric_id: Option<bool>,
    /// The message's invitation if it differs from the chat's last invitation; otherwise `None`.
    pub new_invite: Option<&'a str>,
    /// How many entry numbers the update assigns.
    pub entry_count: u64,
    /// Whether the first entry is a message, and not a call.
    pub is_message: bool,
    /// The limit on the visitor's messages in a window.
    pub max_messages: u32,
    pub now: Timestamp,
}

impl VisitorHeaderUpdate<'_> {
    fn item_update(&self, count: MessageCount) -> Result<ItemUpdate<String>, WriteError> {
        let mut assignments = String::from("#seq = #seq + :count, #updated_at = :now, #last_message = :preview");
        let mut values = vec![
            (":now", n(self.now.0)),
            (":preview", to_attribute(&MessagePreviewItem::from(&self.preview))?),
            (":count", n(self.entry_count)),
            (":is_visitor_read", AttributeValue::Bool(self.visitor_name.is_some())),
        ];
        if self.is_message {
            assignments.push_str(", #visitor_seq = #seq + :one");
            values.push((":one", n(1)));
        }
        if let Some(name) = self.visitor_name {
            assignments.push_str(", #visitor_name = :name");
            values.push((":name", s(truncate_chars(name, MAX_HEADER_NAME_CHARS))));
        }
        if let Some(has_numeric_id) = self.has_numeric_id {
            assignments.push_str(", #has_numeric_id = :has_numeric_id");
            values.push((":has_numeric_id", AttributeValue::Bool(has_numeric_id)));
        }
        if let Some(invite) = self.new_invite {
            assignments.push_str(", #invite_hash = :invite_hash");
            values.push((":invite_hash", s(invite_hash(invite))));
        }
        let counted = count.expression(self.required_state, self.max_messages, self.now);
        values.extend(counted.values);
        let update = format!(
            "SET {assignments}{} REMOVE #typing_started_at, #typing_text, #repeated_to_bot{}",
            counted.assignments, counted.removed
        );
        Ok(ItemUpdate { key: header_key(self.account_id, self.chat_id), update, condition: counted.condition, values })
    }
}

/// Returns the write that creates the header of a new chat, whose first message is counted.
pub(crate) fn new_header_write(header: &Chat, next_idle_check: Timestamp, now: Timestamp) -> Result<Write, Error> {
    let mut item = to_item(&HeaderItem::new(header, next_idle_check))?;
    item.extend([first_message_count(now)]);
    Ok(Write::Create(item))
}

impl Chats {
    /// Assigns the next entry numbers of an open chat, counts the message and returns the new header. The write
    /// succeeds only if the chat has the required state and the visitor may send one more message.
    pub(crate) async fn advance_header_for_visitor(
        &self,
        update: &VisitorHeaderUpdate<'_>,
    ) -> Result<Chat, WriteError> {
        match self.table.update(update.item_update(MessageCount::Increment)?).await {
            Err(WriteError::ConditionFailed { item: Some(header), index }) => {
                let lost_race = || WriteError::ConditionFailed { item: None, index };
                if !update.required_state.includes(chat_from_item(header.clone())?.state.name()) {
                    return Err(lost_race());
                }
                let count = MessageCount::after_failure(&header, update.max_messages, update.now)?;
                let count = count.ok_or_else(lost_race)?;
                Ok(chat_from_item(self.table.update(update.item_update(count)?).await?)?)
            }
            updated => Ok(chat_from_item(updated?)?),
        }
    }

    /// Sets the visitor's name in a header that contains another name.
    pub(crate) async fn correct_visitor_name(
        &self,
        header: &Chat,
        visitor_name: &str,
        now: Timestamp,
    ) -> Result<(), WriteError> {
        let name = truncate_chars(visitor_name, MAX_HEADER_NAME_CHARS);
        if header.visitor_name != name {
            let key = header_key(&header.account_id, header.chat_id);
            let update = "SET #visitor_name = :name, #other_change_at = :now";
            let values = vec![(":name", s(name)), (":now", n(now.0))];
            self.table.update(ItemUpdate { key, update, condition: ITEM_EXISTS, values }).await?;
        }
        Ok(())
    }
}
