//! The header update of a change to a visitor's profile or blacklist status.

use crate::domain::chats::chat::{Chat, MAX_HEADER_NAME_CHARS};
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{Visitor, VisitorField};
use crate::error::Error;
use crate::store::chats::visitors::visitor_updates::UpdateExpression;
use crate::store::chats::{Chats, chat_from_item, header_key};
use crate::store::table::{ITEM_EXISTS, WriteResult, n, s};
use crate::store::to_attribute;

impl Chats {
    /// If the visitor's name has changed, sets it in the open chat's header. While the visitor is blacklisted, the
    /// header has a mark that lets messages read the visitor before they write the header. If `count` is not 0 and an
    /// agent owns the chat, also assigns `count` entry numbers and returns the header; otherwise, returns `None`.
    pub(crate) async fn update_header_for_visitor(
        &self,
        visitor: &Visitor,
        count: usize,
        now: Timestamp,
    ) -> Result<Option<Chat>, Error> {
        let Some(chat_id) = visitor.open_chat else { return Ok(None) };
        let key = header_key(&visitor.account_id, chat_id);
        let has_changed = |field| visitor.changes.fields.contains(&field);
        let mut changes = UpdateExpression::default();
        changes.add("#other_change_at = :now", [(":now", n(now.0))]);
        if has_changed(VisitorField::Name) {
            let name = truncate_chars(visitor.profile.display_name(), MAX_HEADER_NAME_CHARS);
            changes.add("#visitor_name = :name", [(":name", s(name))]);
        }
        if has_changed(VisitorField::Blacklisted) {
            if visitor.blacklisted {
                changes.add("#must_read_visitor = :true", [(":true", to_attribute(&true)?)]);
            } else {
                changes.remove("#must_read_visitor");
            }
        }
        if count > 0 {
            let mut changes = changes.clone();
            changes.add("#seq = #seq + :count", [(":count", n(count)), (":active", s("active"))]);
            let updated = self.table.update(changes.into_update(key.clone(), "#state = :active")).await;
            if let Ok(item) = updated.condition()? {
                return chat_from_item(item).map(Some);
            }
        }
        if has_changed(VisitorField::Name) || has_changed(VisitorField::Blacklisted) {
            self.table.update(changes.into_update(key, ITEM_EXISTS)).await.on_condition_failed(Error::NotFound)?;
        }
        Ok(None)
    }
}
