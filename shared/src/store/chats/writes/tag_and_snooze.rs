//! The write of what an agent changes in a chat without a message or a transition: its tags and its snooze.

use crate::domain::chats::chat::Chat;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::expiry::erasure::ERASING;
use crate::store::chats::items::SnoozeItem;
use crate::store::chats::report_counters::count_tags_write;
use crate::store::chats::{Chats, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n};
use crate::store::to_attribute;

/// A condition that unchanged tags fulfil. Tags that were removed are stored as an empty list. Its value is `:tag_ids`.
macro_rules! has_same_tags {
    () => {
        "(attribute_not_exists(#tag_ids) OR #tag_ids = :tag_ids)"
    };
}
pub(super) use has_same_tags;

impl Chats {
    /// Stores the tags and the snooze of `after`. The reports count the tags of closed chats, so a change of these is a
    /// transaction. Fails if either, or the state or the owner, has changed since `before` was read, and with
    /// `NotFound` if the chat is being erased.
    pub(crate) async fn write_tags_and_snooze(
        &self,
        before: &Chat,
        after: &Chat,
        now: Timestamp,
    ) -> Result<(), WriteError> {
        let header = header_update(before, after, now)?;
        let counters = after.state.is_closed().then(|| count_tags_write(after, &before.tag_ids, &after.tag_ids));
        let written = match counters.flatten() {
            Some(counters) => self.table.transact(vec![Write::Update(header), counters]).await,
            None => self.table.update(header).await.map(|_| ()),
        };
        match written {
            Err(WriteError::ConditionFailed { item: Some(item), .. }) if item.contains_key(ERASING) => {
                Err(Error::NotFound.into())
            }
            written => written,
        }
    }
}

fn header_update(before: &Chat, after: &Chat, now: Timestamp) -> Result<ItemUpdate, Error> {
    let snooze = |chat: &Chat| to_attribute(&chat.snooze.map(SnoozeItem::from));
    let mut values = vec![
        (":version", n(before.version)),
        (":tag_ids", to_attribute(&before.tag_ids)?),
        (":new_tag_ids", to_attribute(&after.tag_ids)?),
        (":snooze", snooze(before)?),
        (":new_snooze", snooze(after)?),
        (":now", n(now.0)),
    ];
    let update = if after.state.is_closed() {
        values.extend(closed_chat_values(&after.account_id, now));
        concat!("SET #tag_ids = :new_tag_ids, #snooze = :new_snooze, #other_change_at = :now, ", set_closed_chat!())
    } else {
        "SET #tag_ids = :new_tag_ids, #snooze = :new_snooze, #other_change_at = :now"
    };
    let condition = concat!(
        "#version = :version AND attribute_not_exists(#erasing) AND ",
        has_same_tags!(),
        " AND (attribute_not_exists(#snooze) OR #snooze = :snooze)"
    );
    Ok(ItemUpdate { key: header_key(&before.account_id, before.chat_id), update, condition, values })
}
