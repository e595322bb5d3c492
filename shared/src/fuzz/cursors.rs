//! Fuzzes page cursors, change cursors and query parameters. An accepted cursor must convert back to the same text,
//! because the service must accept a cursor only in the form in which it returns cursors. Any other text is rejected
//! with status 400, or 410 if the cursor is too old.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::chats::chat_changes::ChangesCursor;
use crate::domain::chats::chat_export::{ExportCursor, ExportScope};
use crate::domain::chats::chat_search::{SearchCursor, SearchQuery};
use crate::domain::deliveries::delivery_search_and_replay::DeliveryCursor;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::fuzz::{NOW, targets};
use crate::wire::admin::audit::AuditLogQuery;
use crate::wire::admin::chat_export;
use crate::wire::admin::chat_export::ChatExportQuery;
use crate::wire::admin::delivery_log::{DeliveriesQuery, DeliveryCountsQuery};
use crate::wire::admin::report::ReportQuery;
use crate::wire::agent::{ChangesQuery, ChatSearchQuery};
use crate::wire::event_feed::EventsQuery;
use crate::wire::fields::reader::read_query;

targets!(changes_cursor, search_cursor, export_cursor, delivery_cursor, audit_cursor, feed_cursor, query_parameters);

/// Returns the cursor if the text was accepted. Otherwise, checks the error and returns `None`.
fn cursor<T>(parsed: Result<T, Error>) -> Option<T> {
    match parsed {
        Ok(cursor) => Some(cursor),
        Err(Error::CursorExpired) => None,
        Err(error) => {
            assert_eq!((error.status(), error.invalid_field()), (400, Some("cursor")), "{error:?}");
            None
        }
    }
}

fn changes_cursor(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    // Parse each cursor at several times, because the corpus contains cursors from different times.
    for now in [NOW, Timestamp(0), Timestamp(u64::MAX)] {
        let query = read_query::<ChangesQuery>([("cursor".to_owned(), text.clone().into_owned())]);
        let Some(cursor) = cursor(query.and_then(|query| query.cursor(now))).flatten() else { continue };
        assert_eq!(cursor.to_text(), text);
        let next = cursor.after_page(&cursor.pass_at(now), None);
        assert_eq!(ChangesCursor::parse(&next.to_text(), now), Some(next));
    }
}

fn search_cursor(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let parameters = [("q".to_owned(), "x".to_owned()), ("cursor".to_owned(), text.clone().into_owned())];
    let query = read_query::<ChatSearchQuery>(parameters).and_then(|query| query.checked());
    let Some(cursor) = cursor(query).and_then(|(_, cursor)| cursor) else { return };
    assert_eq!(cursor.to_text(), text);
    assert_eq!(SearchCursor::parse(&text), Some(cursor));
}

fn feed_cursor(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match read_query::<EventsQuery>([("after".to_owned(), text.clone().into_owned())]).and_then(|query| query.after()) {
        Ok(cursor) => assert_eq!(cursor.to_text(), text),
        Err(error) => assert_eq!((error.status(), error.invalid_field()), (400, Some("after")), "{error:?}"),
    }
}

fn export_cursor(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let all = ExportScope::Closed { from: Timestamp(0), to: Timestamp(u64::MAX), channel_id: None };
    let Some(cursor) = cursor(chat_export::parse_export_cursor(&text, &all)) else { return };
    assert_eq!(cursor.to_text(), text);
    assert_eq!(ExportCursor::parse(&text), Some(cursor));
    let other_chat = ExportScope::Chat(cursor.chat_id.wrapping_add(1));
    assert!(chat_export::parse_export_cursor(&text, &other_chat).is_err(), "a cursor of another export is accepted");
}

fn delivery_cursor(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let query = read_query([("cursor".to_owned(), text.clone().into_owned())]);
    let Some(request) = cursor(query.and_then(DeliveriesQuery::checked)) else { return };
    let cursor = request.after.unwrap();
    assert_eq!(cursor.to_text(), text);
    assert_eq!(DeliveryCursor::parse(&text), Some(cursor));
}

fn audit_cursor(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let query = read_query([("cursor".to_owned(), text.clone().into_owned())]);
    let Some(request) = cursor(query.and_then(AuditLogQuery::checked)) else { return };
    assert_eq!(request.cursor.as_deref(), Some(&*text));
}

/// Fuzzes the query parameters of the delivery log, the audit log, the chat export and the chat search. The input is
/// used as a JSON object of the parameters.
fn query_parameters(input: &[u8]) {
    let Ok(Value::Object(parameters)) = serde_json::from_slice(input) else { return };
    let texts = parameters
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    let texts: BTreeMap<String, String> = texts.collect();
    let check = |error: Option<Error>| {
        let Some(error) = error else { return };
        let field = error.invalid_field().unwrap();
        assert!(error.status() == 400 && (parameters.contains_key(field) || field == "to"), "{error}");
    };
    check(read_query(texts.clone()).and_then(DeliveriesQuery::checked).err());
    check(read_query::<DeliveryCountsQuery>(texts.clone()).and_then(|query| query.times()).err());
    check(read_query(texts.clone()).and_then(AuditLogQuery::checked).err());
    check(read_query::<ReportQuery>(texts.clone()).err());
    let export = texts.iter().filter(|(name, _)| *name != "cursor").map(|(name, text)| (name.clone(), text.clone()));
    check(read_query(export).and_then(ChatExportQuery::checked).err());
    if texts.contains_key("q") {
        check(read_query::<ChatSearchQuery>(texts.clone()).and_then(|query| query.checked()).err());
    }
    let text = texts.get("q").cloned().unwrap_or_default();
    assert!(SearchQuery::parse(&text).is_none() || SearchQuery::parse(&format!(" {text}\n")).is_some());
}
