//! Receives a call that a visitor starts: a callback, which the visitor asks for in a widget, or an incoming call to
//! the account's number.

use crate::chats::append_entry::append_entry;
use crate::chats::visitor::visitor_entry::{EntryKind, FromVisitor, StoredEntry, VisitorData, VisitorEntry};
use crate::domain::calls::phone_call::Call;
use crate::domain::calls::telephony::CallbackCaps;
use crate::domain::chats::message_content::Content;
use crate::domain::visitors::visitor::{ProfileSource, VisitorProfile};
use crate::domain::visitors::widget_visitor::Page;
use crate::error::Error;
use crate::store::chats::Chats;

#[derive(Clone, Copy)]
pub struct Callback<'a> {
    pub from: FromVisitor<'a>,
    /// The call, to the number that becomes the visitor's.
    pub call: &'a Call,
    pub caps: CallbackCaps,
    pub page: Option<&'a Page>,
}

#[derive(Clone, Copy)]
pub struct ReceivedCall<'a> {
    pub from: FromVisitor<'a>,
    pub call: &'a Call,
    /// The caller's number in E.164 format. `None` if it is hidden or not valid.
    pub number: Option<&'a str>,
}

/// Stores a callback in the visitor's open chat, or opens a chat with it, which a bot gets first. Returns `None` and
/// stores nothing if the visitor is blacklisted.
///
/// # Errors
/// Fails with a conflict if a call of the visitor or the number is in progress, the balance is used up or a limit on
/// callbacks is reached.
pub async fn receive_callback(chats: &Chats, callback: &Callback<'_>) -> Result<Option<StoredEntry>, Error> {
    let Callback { from, call, caps, page } = *callback;
    let profile = &profile_with_phone(Some(&call.phone));
    let entry = VisitorEntry {
        from,
        content: &Content::Call(Box::new(call.clone())),
        visitor: VisitorData { profile, source: ProfileSource::Visitor, answers: None, page },
        has_numeric_id: Some(false),
        kind: EntryKind::Callback { call, caps },
    };
    append_entry(chats, &entry, None).await
}

/// Stores an incoming call in the visitor's open chat, or opens a chat with it for the agents. An unknown caller
/// becomes a visitor. Returns `None` and stores nothing if the visitor is blacklisted.
pub async fn receive_incoming_call(chats: &Chats, incoming: &ReceivedCall<'_>) -> Result<Option<StoredEntry>, Error> {
    let ReceivedCall { from, call, number } = *incoming;
    let profile = &profile_with_phone(number);
    let entry = VisitorEntry {
        from,
        content: &Content::Call(Box::new(call.clone())),
        visitor: VisitorData { profile, source: ProfileSource::Visitor, answers: None, page: None },
        has_numeric_id: None,
        kind: EntryKind::IncomingCall { call },
    };
    append_entry(chats, &entry, None).await
}

fn profile_with_phone(phone: Option<&str>) -> VisitorProfile {
    VisitorProfile { phone: phone.map(str::to_owned), ..VisitorProfile::default() }
}
