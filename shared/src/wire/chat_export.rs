//! Requests and responses of GET /admin/chats/export and GET /admin/chats/export.csv.

use serde_json::{Value, json};

use crate::domain::chat::{Rating, Sender};
use crate::domain::chat_export::{ExportCursor, ExportPage, ExportScope, ExportedChat};
use crate::domain::link_filter::LinkFilter;
use crate::domain::phone_call::CallStatus;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::agent::{author_json, entry_json};
use crate::wire::message_content::message_fields;
use crate::wire::query_parameters::{query_number, time_range};
use crate::wire::webhook_event::department_json;

/// The assumed size of an entry's fields other than its content and the attempts of its delivery.
const ENTRY_BASE_BYTES: usize = 300;
const ATTEMPT_BYTES: usize = 800;
const CSV_COLUMN_COUNT: usize = 21;
/// The order of the columns is part of the API. New columns are added at the end.
const CSV_COLUMNS: [&str; CSV_COLUMN_COUNT] = [
    "chat_id",
    "channel_id",
    "channel",
    "visitor_number",
    "visitor",
    "state",
    "opened_at",
    "updated_at",
    "seq",
    "at",
    "from",
    "author",
    "type",
    "text",
    "rating",
    "department",
    "call_type",
    "call_status",
    "call_reason",
    "call_duration",
    "call_record_url",
];
/// The first character of a CSV file. Without it, some spreadsheets do not read the file as UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Parses the query parameters, except `cursor`. `query` returns the value of a parameter.
pub fn parse_export_scope(query: &dyn Fn(&str) -> Option<String>) -> Result<ExportScope, Error> {
    let number = |name: &str| query_number(query, name);
    let (from, to, channel_id) = (number("from")?, number("to")?, query("channel_id"));
    let Some(chat_id) = number("chat_id")? else {
        let (from, to) = time_range(from, to)?;
        return Ok(ExportScope::Closed { from, to, channel_id });
    };
    if from.is_some() || to.is_some() || channel_id.is_some() {
        return Err(Error::field("chat_id", "cannot be combined with from, to or channel_id"));
    }
    Ok(ExportScope::Chat(chat_id))
}

/// Parses the query parameter `cursor`. A cursor that cannot belong to an export with this scope is invalid.
pub fn parse_export_cursor(text: &str, scope: &ExportScope) -> Result<ExportCursor, Error> {
    let cursor = ExportCursor::parse(text).filter(|cursor| scope.contains(cursor));
    cursor.ok_or_else(|| Error::field("cursor", "must be a value that this endpoint has returned for this export"))
}

/// Estimates the size of an entry in an export.
pub fn entry_bytes(entry: &TimelineEntry) -> usize {
    let attempts = entry.delivery.as_ref().map_or(0, |delivery| delivery.attempts.len());
    Value::Object(message_fields(&entry.content)).to_string().len() + ENTRY_BASE_BYTES + attempts * ATTEMPT_BYTES
}

/// Returns a page of an export as JSON. Links are not filtered, because an export contains the stored texts.
pub fn export_json(page: ExportPage, now: Timestamp) -> Value {
    let next = page.next.map(ExportCursor::to_text);
    let chats: Vec<Value> = page.chats.into_iter().map(|exported| exported_chat_json(exported, now)).collect();
    json!({ "chats": chats, "next": next })
}

fn exported_chat_json(ExportedChat { chat, entries }: ExportedChat, now: Timestamp) -> Value {
    let messages = entries.into_iter().map(|entry| entry_json(entry, &LinkFilter::default(), now));
    json!({
        "chat_id": chat.chat_id,
        "state": chat.state.name(),
        "channel": { "channel_id": chat.channel_id, "name": chat.channel_name },
        "visitor": { "number": chat.visitor_number, "id": chat.external_id, "name": chat.visitor_name },
        "agent": chat.state.agent().map(author_json),
        "department": chat.department.as_ref().map(department_json),
        "opened_at": chat.opened_at.seconds(),
        "updated_at": chat.updated_at.seconds(),
        "rate": chat.rating.map(Rating::name),
        "messages": messages.collect::<Vec<_>>(),
    })
}

/// Returns a page as CSV (RFC 4180), with one line for each entry. Only the first page of an export has a header line.
pub fn export_csv(page: &ExportPage, is_first: bool) -> String {
    let mut text = String::new();
    if is_first {
        text.push(BYTE_ORDER_MARK);
        push_line(&mut text, &CSV_COLUMNS.map(str::to_owned));
    }
    for ExportedChat { chat, entries } in &page.chats {
        for entry in entries {
            let author = match &entry.from {
                Sender::Visitor => chat.visitor_name.clone(),
                Sender::Agent(agent) => agent.name.clone(),
                Sender::Bot(name) => name.clone(),
                Sender::System => entry.caused_by.as_ref().map(|agent| agent.name.clone()).unwrap_or_default(),
            };
            let call = entry.content.call();
            let status = call.map(|call| &call.status);
            let talk_time = call.and_then(|call| call.talk_time);
            let optional = |text: Option<&str>| text.unwrap_or_default().to_owned();
            let cells = [
                chat.chat_id.to_string(),
                chat.channel_id.clone(),
                chat.channel_name.clone(),
                chat.visitor_number.to_string(),
                chat.visitor_name.clone(),
                chat.state.name().to_owned(),
                chat.opened_at.rfc3339(),
                chat.updated_at.rfc3339(),
                entry.seq.to_string(),
                entry.at.rfc3339(),
                entry.from.name().to_owned(),
                author,
                entry.content.name().to_owned(),
                entry.content.to_plain_text(),
                optional(chat.rating.map(Rating::name)),
                optional(chat.department.as_ref().map(|department| department.name.as_str())),
                optional(call.map(|call| call.kind.name())),
                optional(status.map(CallStatus::name)),
                optional(status.and_then(CallStatus::reason)),
                talk_time.map(|time| time.as_secs().to_string()).unwrap_or_default(),
                optional(status.and_then(CallStatus::record_url)),
            ];
            push_line(&mut text, &cells);
        }
    }
    text
}

fn push_line(text: &mut String, cells: &[String; CSV_COLUMN_COUNT]) {
    text.push_str(&cells.each_ref().map(|cell| csv_cell(cell)).join(","));
    text.push_str("\r\n");
}

/// Quotes a cell, and puts an apostrophe before text that looks like a formula, because a spreadsheet would execute a
/// formula that a visitor has written. A formula can begin at the start of the text or after a semicolon, a line break
/// or a tab, where some spreadsheets begin a new cell.
fn csv_cell(text: &str) -> String {
    let mut cell = String::from('"');
    let mut is_start = true;
    for character in text.chars() {
        // Some spreadsheets read the full-width forms like the ASCII characters.
        if is_start && matches!(character, '=' | '+' | '-' | '@' | '\t' | '\r' | '＝' | '＋' | '－' | '＠') {
            cell.push('\'');
        }
        if character == '"' {
            cell.push('"');
        }
        cell.push(character);
        // A formula can also follow quotes at the start of a cell: a spreadsheet that begins a new cell after one of
        // these characters removes the quotes.
        is_start = matches!(character, ';' | '\t' | '\r' | '\n') || (is_start && character == '"');
    }
    cell.push('"');
    cell
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;
    use crate::domain::message_content::Content;
    use crate::domain::phone_call::{Call, CallCharge, CallKind, CallLimits};
    use crate::wire::sample_data;

    fn parse(parameters: &[(&str, &str)]) -> Result<ExportScope, Error> {
        parse_export_scope(&|name| {
            parameters.iter().find(|(parameter, _)| *parameter == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn scope_is_a_chat_or_a_range_of_closed_chats() {
        let closed = |from, to, channel_id: Option<&str>| ExportScope::Closed {
            from: Timestamp(from),
            to: Timestamp(to),
            channel_id: channel_id.map(str::to_owned),
        };
        assert_eq!(parse(&[]).unwrap(), closed(0, u64::MAX, None));
        assert_eq!(parse(&[("chat_id", "7")]).unwrap(), ExportScope::Chat(7));
        let range = parse(&[("from", "5"), ("to", "7"), ("channel_id", "c")]);
        assert_eq!(range.unwrap(), closed(5_000, 7_999, Some("c")));
        for (field, parameters) in [
            ("chat_id", vec![("chat_id", "7"), ("from", "5")]),
            ("chat_id", vec![("chat_id", "x")]),
            ("to", vec![("to", "soon")]),
            ("to", vec![("from", "7"), ("to", "6")]),
        ] {
            assert_eq!(parse(&parameters).unwrap_err().invalid_field(), Some(field), "{parameters:?}");
        }
    }

    #[test]
    fn csv_shows_what_became_of_a_call() {
        let now = Timestamp(0);
        let call = Call {
            kind: CallKind::Incoming,
            phone: "+31201234567".into(),
            agent: None,
            status: CallStatus::End(Some("https://x.example/1.mp3".into())),
            status_at: now,
            started_at: now,
            charge: CallCharge::Free,
            talk_time: Some(Duration::from_secs(61)),
            provider_call_id: None,
            is_acknowledged: true,
            limits: CallLimits { ring: Duration::ZERO, talk: Duration::ZERO },
            base_url: String::new(),
            revision: 0,
        };
        let entry = TimelineEntry { content: Content::Call(Box::new(call)), ..sample_data::agent_message("id", now) };
        let page =
            ExportPage { chats: vec![ExportedChat { chat: sample_data::chat(now), entries: vec![entry] }], next: None };
        let csv = export_csv(&page, true);
        assert!(csv.starts_with("\u{feff}\"chat_id\","), "{csv}");
        let expected = "\"call\",\"'+31201234567\",\"positive\",\"Sample department\",\"incoming\",\"end\",\"\",\"61\",\"https://x.example/1.mp3\"\r\n";
        assert!(csv.ends_with(expected), "{csv}");
        assert!(export_csv(&page, false).starts_with("\"1000000000\","), "only the first page has the names");
    }

    #[test]
    fn csv_cells_are_quoted_and_never_formulas() {
        let table = [
            ("", r#""""#),
            ("Hello, \"you\"\nthere", "\"Hello, \"\"you\"\"\nthere\""),
            ("=1+1", "\"'=1+1\""),
            ("+49 30", "\"'+49 30\""),
            ("-", "\"'-\""),
            ("@x", "\"'@x\""),
            ("＝1+1", "\"'＝1+1\""),
            ("＋49 30", "\"'＋49 30\""),
            ("hi;－1", "\"hi;'－1\""),
            ("＠x", "\"'＠x\""),
            ("\t=x", "\"'\t'=x\""),
            ("hi;=1+1", "\"hi;'=1+1\""),
            ("hi\n@x\r\n+y\t-z", "\"hi\n'@x\r\n'+y\t'-z\""),
            ("x;\"=1+1;y", "\"x;\"\"'=1+1;y\""),
            ("1-1; a=b", "\"1-1; a=b\""),
        ];
        for (text, expected) in table {
            assert_eq!(csv_cell(text), expected, "{text:?}");
        }
    }
}
