//! The write that edits or deletes a message that an agent has sent.

use crate::domain::chats::chat::{Chat, MessagePreview};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::{ContentItem, MessagePreviewItem};
use crate::store::chats::visitors::visitor_message_rate::open_states;
use crate::store::chats::{Chats, entry_key, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;

impl Chats {
    /// Stores the changed message and, if it is the chat's last message, its preview in the chat's header. `chat` was
    /// read before or with the message.
    ///
    /// The write succeeds only if the chat is open and the message was not deleted. If the preview is replaced, no
    /// entry may have been added to the chat since it was read.
    pub(crate) async fn store_changed_message(
        &self,
        changed: &TimelineEntry,
        chat: &Chat,
        now: Timestamp,
    ) -> Result<(), WriteError> {
        self.table.transact(vec![header_write(changed, chat, now)?, entry_write(changed)?]).await
    }
}

fn header_write(changed: &TimelineEntry, chat: &Chat, now: Timestamp) -> Result<Write, Error> {
    let mut values = vec![(":now", n(now.0))];
    values.extend(open_states());
    // The time of the preview stays that of the message, so that a later change finds it too.
    let preview = MessagePreview::of(&changed.content, &changed.from, changed.at);
    let (update, condition) = if is_previewed(&preview, chat) {
        values.push((":preview", to_attribute(&MessagePreviewItem::from(&preview))?));
        values.push((":seq", n(chat.seq)));
        (
            "SET #other_change_at = :now, #messages_changed_at = :now, #last_message = :preview",
            "#state IN (:bot, :waiting, :active) AND #seq = :seq",
        )
    } else {
        ("SET #other_change_at = :now, #messages_changed_at = :now", "#state IN (:bot, :waiting, :active)")
    };
    Ok(Write::Update(ItemUpdate { key: header_key(&chat.account_id, chat.chat_id), update, condition, values }))
}

fn entry_write(changed: &TimelineEntry) -> Result<Write, Error> {
    let TimelineEntry { account_id, chat_id, seq, id, content, edited_at, deleted_at, .. } = changed;
    let (update, at) = match (deleted_at, edited_at) {
        (Some(at), _) => ("SET #content = :content, #deleted_at = :at REMOVE #edited_at", at),
        (None, Some(at)) => ("SET #content = :content, #edited_at = :at", at),
        (None, None) => return Err(Error::internal("the message has not been changed")),
    };
    Ok(Write::Update(ItemUpdate {
        key: entry_key(account_id, *chat_id, *seq),
        update,
        condition: "#id = :id AND attribute_not_exists(#deleted_at)",
        values: vec![(":content", to_attribute(&ContentItem::from(content))?), (":at", n(at.0)), (":id", s(&**id))],
    }))
}

/// Whether the chat's preview is that of the message with the preview `changed`.
fn is_previewed(changed: &MessagePreview, chat: &Chat) -> bool {
    let is_same =
        |last: &MessagePreview| (last.at, last.agent_id, &last.from) == (changed.at, changed.agent_id, &changed.from);
    chat.last_message.as_ref().is_some_and(is_same)
}
