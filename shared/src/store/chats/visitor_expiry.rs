//! When visitors expire (retention). A visitor expires together with the last of its closed chats, and not while a chat
//! is open. The visitor's item has this time as `retain_until` (null: never), also while a chat is open, and the time
//! when a chat was last closed as `last_closed_at`, from which a changed retention counts.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::chat::Chat;
use crate::store::chats::{panel_key, visitor_key, visitor_number_key};
use crate::store::table::{Item, ItemUpdate, Write, n, s};

/// The time at which a closed chat and its panel expire, as the attribute `expires_at`; null when they never expire.
pub(in crate::store) fn chat_expiry(closed_chat: &Chat) -> AttributeValue {
    let until = closed_chat.retain_until(closed_chat.updated_at);
    until.map_or(AttributeValue::Null(true), |until| n(until.seconds()))
}

/// When a visitor expires after the close of a chat.
pub(in crate::store) enum VisitorExpiry {
    /// Together with the chat that is closed now. The write is conditional on no other chat being retained longer.
    OfThisChat(AttributeValue),
    /// Together with a chat that was closed before and is retained longer.
    OfEarlierChat(AttributeValue),
}

impl VisitorExpiry {
    /// The usual expiry, tried first so that closing a chat need not read the visitor's item.
    pub(in crate::store) fn of_closed_chat(closed_chat: &Chat) -> Self {
        Self::OfThisChat(chat_expiry(closed_chat))
    }

    /// The expiry to write after a failed condition: that of the item which failed it, if this is the visitor's item
    /// and an earlier chat is retained longer.
    pub(in crate::store) fn later_than(failed_item: &Item, closed_chat: &Chat) -> Option<Self> {
        let retain_until = failed_item.get("retain_until").filter(|_| failed_item.contains_key("external_id"))?;
        let seconds = |value: &AttributeValue| value.as_n().ok()?.parse::<u64>().ok();
        let this_expiry = seconds(&chat_expiry(closed_chat))?;
        seconds(retain_until).is_none_or(|other| other > this_expiry).then(|| Self::OfEarlierChat(retain_until.clone()))
    }

    /// The value of the attribute `retain_until`.
    pub(in crate::store) fn attribute(&self) -> &AttributeValue {
        let (Self::OfThisChat(until) | Self::OfEarlierChat(until)) = self;
        until
    }

    pub(in crate::store) fn is_never(&self) -> bool {
        self.attribute().is_null()
    }
}

/// The writes beside the header that close a chat: they remove the visitor's pointer to the open chat, and set the
/// expiry of the visitor, the visitor number and the panel.
pub(in crate::store) fn close_visitor_writes(closed_chat: &Chat, expiry: &VisitorExpiry) -> Vec<Write> {
    let condition = match expiry {
        VisitorExpiry::OfEarlierChat(_) => "#open_chat = :chat AND #retain_until = :retain_until",
        VisitorExpiry::OfThisChat(_) if expiry.is_never() => "#open_chat = :chat",
        VisitorExpiry::OfThisChat(_) => {
            "#open_chat = :chat AND (attribute_not_exists(#retain_until) OR #retain_until <= :retain_until)"
        }
    };
    let mut writes = vec![Write::Update(ItemUpdate {
        key: visitor_key(&closed_chat.channel_id, &closed_chat.external_id),
        update: "SET #expires_at = :retain_until, #retain_until = :retain_until, #last_closed_at = :now \
                 REMOVE #open_chat",
        condition,
        values: vec![
            (":chat", n(closed_chat.chat_id)),
            (":retain_until", expiry.attribute().clone()),
            (":now", n(closed_chat.updated_at.0)),
        ],
    })];
    if !expiry.is_never() {
        writes.push(visitor_number_expiry_write(closed_chat, expiry));
    }
    if closed_chat.retention_days.is_some() {
        writes.push(Write::Update(ItemUpdate {
            key: panel_key(&closed_chat.account_id, closed_chat.chat_id),
            update: "SET #expires_at = :expires_at",
            condition: "",
            values: vec![(":expires_at", chat_expiry(closed_chat))],
        }));
    }
    writes
}

/// Sets the expiry of the item that leads from a visitor's number to the visitor. It does not expire while a chat is
/// open.
pub(in crate::store) fn visitor_number_expiry_write(closed_chat: &Chat, expiry: &VisitorExpiry) -> Write {
    let visitor = visitor_key(&closed_chat.channel_id, &closed_chat.external_id);
    Write::Update(ItemUpdate {
        key: visitor_number_key(&closed_chat.account_id, closed_chat.visitor_number),
        update: "SET #visitor_pk = :pk, #visitor_sk = :sk, #expires_at = :expires_at",
        condition: "",
        values: vec![(":pk", s(visitor.pk)), (":sk", s(visitor.sk)), (":expires_at", expiry.attribute().clone())],
    })
}
