//! The write that replaces the text of a visitor's message.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::chats::chat::{Chat, MessagePreview, Sender};
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::store::chats::items::{ContentItem, MessagePreviewItem};
use crate::store::chats::visitors::visitor_message_rate::{MessageCount, RequiredState};
use crate::store::chats::{Chats, entry_key, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;

/// The position of the header's write in the transaction.
const HEADER_WRITE: usize = 0;

pub(crate) struct MessageEdit<'a> {
    /// The stored message.
    pub entry: &'a TimelineEntry,
    /// The chat of the message. It was read before or with the message.
    pub chat: &'a Chat,
    pub content: &'a Content,
    /// The limit on the visitor's messages in a window.
    pub max_messages: u32,
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

impl Chats {
    /// Replaces the content of a visitor's message and, if it is the chat's last message, its preview in the chat's
    /// header. Counts the edit like a message. With an idempotency key, also stores the receipt of the request.
    ///
    /// The write succeeds only if the entry still exists, the chat is open and the visitor may send one more message.
    /// If the preview is replaced, no entry may have been added to the chat since it was read.
    ///
    /// # Errors
    /// Fails with `RateLimited` if the visitor has sent as many messages in this window as the limit allows.
    pub(crate) async fn store_edit(&self, edit: &MessageEdit<'_>) -> Result<(), WriteError> {
        match self.table.transact(edit.writes(MessageCount::Increment)?).await {
            Err(WriteError::ConditionFailed { index: HEADER_WRITE, item: Some(header) }) => {
                let count = MessageCount::after_failure(&header, edit.max_messages, edit.now)?;
                let lost_race = || WriteError::ConditionFailed { index: HEADER_WRITE, item: None };
                self.table.transact(edit.writes(count.ok_or_else(lost_race)?)?).await
            }
            written => written,
        }
    }
}

impl MessageEdit<'_> {
    fn writes(&self, count: MessageCount) -> Result<Vec<Write>, WriteError> {
        let receipt = self.key.map(|key| key.receipt_write_at(self.entry, self.now)).transpose()?;
        let writes = [self.header_write(count)?, self.entry_write()?];
        Ok(writes.into_iter().chain(receipt).collect())
    }

    fn entry_write(&self) -> Result<Write, WriteError> {
        let TimelineEntry { account_id, chat_id, seq, id, .. } = self.entry;
        Ok(Write::Update(ItemUpdate {
            key: entry_key(account_id, *chat_id, *seq),
            update: "SET #content = :content, #edited_at = :now",
            condition: "#id = :id",
            values: vec![
                (":content", to_attribute(&ContentItem::from(self.content))?),
                (":now", n(self.now.0)),
                (":id", s(&**id)),
            ],
        }))
    }

    fn header_write(&self, count: MessageCount) -> Result<Write, WriteError> {
        let (required_state, preview) = if self.is_of_last_message() {
            // The time of the preview stays that of the message, so that a later edit finds it too.
            let preview = MessagePreview::of(self.content, &Sender::Visitor, self.entry.at);
            (RequiredState::OpenWithLastEntry(self.chat.seq), Some(to_attribute(&MessagePreviewItem::from(&preview))?))
        } else {
            (RequiredState::AnyOpen, None)
        };
        let counted = count.expression(required_state, self.max_messages, self.now);
        let preview_assignment = if preview.is_some() { ", #last_message = :preview" } else { "" };
        let update = format!(
            "SET #other_change_at = :now{preview_assignment}{} REMOVE #typing_started_at, #typing_text{}",
            counted.assignments, counted.removed
        );
        let mut values = vec![(":now", n(self.now.0)), (":is_visitor_read", AttributeValue::Bool(true))];
        values.extend(preview.map(|preview| (":preview", preview)));
        values.extend(counted.values);
        let key = header_key(&self.chat.account_id, self.chat.chat_id);
        Ok(Write::DynamicUpdate(ItemUpdate { key, update, condition: counted.condition, values }))
    }

    fn is_of_last_message(&self) -> bool {
        let is_previewed =
            |preview: &MessagePreview| preview.from == Sender::Visitor.name() && preview.at == self.entry.at;
        self.chat.visitor_seq == self.entry.seq && self.chat.last_message.as_ref().is_some_and(is_previewed)
    }
}
