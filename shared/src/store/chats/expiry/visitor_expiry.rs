//! Determines when visitors expire. A visitor expires together with the last of their closed chats, and never while a
//! chat is open.
//!
//! The visitor's item stores the time of expiry in `retain_until`, which is null if the visitor never expires and keeps
//! its value while a chat is open. `last_closed_at` is the time at which a chat was last closed. A changed retention
//! period of the account is counted from that time.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::chats::chat::Chat;
use crate::store::chats::{panel_key, visitor_key, visitor_number_key};
use crate::store::table::{Item, ItemUpdate, Write, n, s};

/// Returns the time at which a closed chat and its panel expire, as the value of the `expires_at` attribute. The value
/// is null if they never expire.
pub(crate) fn chat_expiry(closed_chat: &Chat) -> AttributeValue {
    let until = closed_chat.retain_until(closed_chat.updated_at);
    until.map_or(AttributeValue::Null(true), |until| n(until.seconds()))
}

pub(crate) enum VisitorExpiry {
    /// The visitor expires together with the chat that is being closed. The write succeeds only if none of the
    /// visitor's other chats expires later.
    OfThisChat(AttributeValue),
    /// The visitor expires together with a chat that was closed earlier but expires later.
    OfEarlierChat(AttributeValue),
}

impl VisitorExpiry {
    /// Returns the expiry of a visitor who expires together with this chat. It is tried first, so that closing a chat
    /// usually does not require reading the visitor's item.
    pub(crate) fn of_closed_chat(closed_chat: &Chat) -> Self {
        Self::OfThisChat(chat_expiry(closed_chat))
    }

    /// Returns the expiry to try after a write has failed. Returns `None` unless `failed_item`, the item whose
    /// condition failed, is the visitor's item and stores a later expiry than the closed chat's.
    pub(crate) fn later_than(failed_item: &Item, closed_chat: &Chat) -> Option<Self> {
        let retain_until = failed_item.get("retain_until").filter(|_| failed_item.contains_key("external_id"))?;
        let seconds = |value: &AttributeValue| value.as_n().ok()?.parse::<u64>().ok();
        let this_expiry = seconds(&chat_expiry(closed_chat))?;
        seconds(retain_until).is_none_or(|other| other > this_expiry).then(|| Self::OfEarlierChat(retain_until.clone()))
    }

    pub(crate) fn attribute(&self) -> &AttributeValue {
        let (Self::OfThisChat(until) | Self::OfEarlierChat(until)) = self;
        until
    }

    pub(crate) fn is_never(&self) -> bool {
        self.attribute().is_null()
    }
}

/// Returns the writes that accompany the header's update when a chat is closed. They remove the visitor's reference to
/// the open chat, and set the expiry of the visitor, the visitor number and the panel.
pub(crate) fn visitor_writes_on_close(closed_chat: &Chat, expiry: &VisitorExpiry) -> Vec<Write> {
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

/// Returns the write that sets the expiry of the visitor number (the item that maps the number to the visitor). Must
/// not be used while a chat is open, because visitor numbers do not expire then.
pub(crate) fn visitor_number_expiry_write(closed_chat: &Chat, expiry: &VisitorExpiry) -> Write {
    let visitor = visitor_key(&closed_chat.channel_id, &closed_chat.external_id);
    Write::Update(ItemUpdate {
        key: visitor_number_key(&closed_chat.account_id, closed_chat.visitor_number),
        update: "SET #visitor_pk = :pk, #visitor_sk = :sk, #expires_at = :expires_at",
        condition: "",
        values: vec![(":pk", s(visitor.pk)), (":sk", s(visitor.sk)), (":expires_at", expiry.attribute().clone())],
    })
}
