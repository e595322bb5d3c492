//! Receives the offline form of a widget, which a visitor sends while no agent is online.

use crate::chats::append_entry::append_entry;
use crate::chats::visitor::visitor_entry::{EntryKind, FromVisitor, StoredEntry, VisitorData, VisitorEntry};
use crate::domain::chats::chat_side_panel::CustomData;
use crate::domain::chats::message_content::Content;
use crate::domain::visitors::visitor::{ProfileSource, VisitorProfile};
use crate::error::Error;
use crate::store::chats::Chats;

#[derive(Clone, Copy)]
pub struct OfflineForm<'a> {
    pub from: FromVisitor<'a>,
    pub text: &'a str,
    pub contacts: &'a VisitorProfile,
    /// The answers to the custom fields of the contacts form. `None` leaves the visitor's answers unchanged.
    pub answers: Option<&'a [CustomData]>,
}

/// Stores the form's text in the visitor's open chat, or opens a chat with it, and notifies the webhooks. Returns
/// `None` and stores nothing if the visitor is blacklisted. Fails like
/// [`receive_visitor_text`](crate::chats::visitor::receive_visitor_text::receive_visitor_text).
pub async fn receive_offline_form(chats: &Chats, form: &OfflineForm<'_>) -> Result<Option<StoredEntry>, Error> {
    let OfflineForm { from, text, contacts, answers } = *form;
    let entry = VisitorEntry {
        from,
        content: &Content::text(text),
        visitor: VisitorData { profile: contacts, source: ProfileSource::Visitor, answers, page: None },
        has_numeric_id: Some(false),
        kind: EntryKind::OfflineForm,
    };
    append_entry(chats, &entry, None).await
}
