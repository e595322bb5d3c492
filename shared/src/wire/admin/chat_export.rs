//! GET /admin/chats/export and GET /admin/chats/export.csv: the query, the pages and the operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::contract::{Failure, Operation};
use crate::domain::accounts::inbox_settings::InboxSettings;
use crate::domain::calls::phone_call::CallStatus;
use crate::domain::chats::chat::{Rating, Sender};
use crate::domain::chats::chat_change::MAX_TAGS_PER_CHAT;
use crate::domain::chats::chat_export::{self, ExportCursor, ExportPage, ExportScope};
use crate::domain::chats::timeline_entry;
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::agent::{ChatAgent, ChatChannel, ChatDepartment, ChatState, TimelineEntry};
use crate::wire::channels::message_content::MessageFields;
use crate::wire::fields::query_parameters::time_range;
use crate::wire::fields::values::{Name, NextCursor, NotNull, SequentialNumber, UnixSeconds};

/// The assumed size of an entry's fields other than its content and the attempts of its delivery.
const ENTRY_BASE_BYTES: usize = 300;
const ATTEMPT_BYTES: usize = 800;
const CSV_COLUMN_COUNT: usize = 23;
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
    "external_id",
    "tags",
];
/// The first character of a CSV file. Without it, some spreadsheets do not read the file as UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::get(
            "/admin/chats/export",
            "exportChats",
            "Exports one chat, or the chats that were closed in a time range",
        )
        .describe(
            "With private notes and events. A long chat continues on the next page: repeat the request with `next` as \
             `cursor` until `next` is null.",
        )
        .query::<ChatExportQuery>()
        .answers::<ExportedChats>(
            200,
            "Chats with at most 500 entries in total, in the order in which the chats were closed. A chat that changes \
             during the export may appear twice.",
        )
        .fails(&[Failure::NotFound]),
        Operation::get(
            "/admin/chats/export.csv",
            "exportChatsAsCsv",
            "Exports the same chats as CSV, with one line for each entry",
        )
        .describe(
            "The cursor of the next page is in the header x-next-cursor. Only the first page has a header line, so the \
             pages can be joined.",
        )
        .query::<ChatExportQuery>()
        .answers_as(
            "text/csv",
            200,
            "CSV (RFC 4180). Only the first page has a byte-order mark and a header line. An apostrophe is put before \
             text that a spreadsheet could execute as a formula.",
        )
        .answer_header(
            "x-next-cursor",
            json!({
                "description": "The cursor of the next page. Absent on the last page.", "schema": { "type": "string" },
            }),
        )
        .fails(&[Failure::NotFound]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct ChatExportQuery {
    /// Selects one chat, in any state. Cannot be combined with from, to or channel_id.
    #[serde(default)]
    chat_id: NotNull<u64>,
    /// Selects chats that were closed, or changed after they were closed, at this time or later. Unix seconds.
    #[serde(default)]
    from: NotNull<u64>,
    /// Unix seconds, inclusive.
    #[serde(default)]
    to: NotNull<u64>,
    /// Selects chats of this channel.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9]{1,64}$"))]
    channel_id: NotNull<String>,
    /// The cursor of the next page.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9]{1,20}-[0-9]{1,20}(-[0-9]{1,20})?$"))]
    cursor: NotNull<String>,
}

impl ChatExportQuery {
    pub fn checked(self) -> Result<(ExportScope, Option<ExportCursor>), Error> {
        let Self { chat_id, from, to, channel_id, cursor } = self;
        let scope = match chat_id.0 {
            Some(_) if from.0.is_some() || to.0.is_some() || channel_id.0.is_some() => {
                return Err(Error::field("chat_id", "cannot be combined with from, to or channel_id"));
            }
            Some(chat_id) => ExportScope::Chat(chat_id),
            None => {
                let (from, to) = time_range(from.0, to.0)?;
                ExportScope::Closed { from, to, channel_id: channel_id.0 }
            }
        };
        let cursor = cursor.0.map(|text| parse_export_cursor(&text, &scope)).transpose()?;
        Ok((scope, cursor))
    }
}

/// Parses the query parameter `cursor`. A cursor that cannot belong to an export with this scope is invalid.
pub(crate) fn parse_export_cursor(text: &str, scope: &ExportScope) -> Result<ExportCursor, Error> {
    let cursor = ExportCursor::parse(text).filter(|cursor| scope.contains(cursor));
    cursor.ok_or_else(|| Error::field("cursor", "must be a value that this endpoint has returned for this export"))
}

/// Estimates the size of an entry in an export.
pub fn entry_bytes(entry: &timeline_entry::TimelineEntry) -> usize {
    let attempts = entry.delivery.as_ref().map_or(0, |delivery| delivery.attempts.len());
    json!(MessageFields::from(&entry.content)).to_string().len() + ENTRY_BASE_BYTES + attempts * ATTEMPT_BYTES
}

#[derive(Serialize, JsonSchema)]
pub struct ExportedChats {
    chats: Vec<ExportedChat>,
    next: NextCursor,
}

impl ExportedChats {
    /// Links are not filtered, because an export contains the stored texts.
    pub fn new(page: ExportPage, inbox: &InboxSettings, now: Timestamp) -> Self {
        let chats = page.chats.into_iter().map(|exported| ExportedChat::new(exported, inbox, now));
        Self { chats: chats.collect(), next: NextCursor(page.next.map(ExportCursor::to_text)) }
    }
}

/// A chat with its timeline, including private notes and events. If the entries do not fit into the page, the chat is
/// repeated on the next page with the following entries.
#[derive(Serialize, JsonSchema)]
pub struct ExportedChat {
    chat_id: SequentialNumber,
    state: ChatState,
    channel: ChatChannel,
    visitor: ExportedVisitor,
    /// The agent who has the chat, or had it when it was closed.
    agent: Option<ChatAgent>,
    /// The department of the chat.
    department: Option<ChatDepartment>,
    opened_at: UnixSeconds,
    updated_at: UnixSeconds,
    rate: Option<Name<Rating>>,
    /// The names of the chat's tags. Absent if there are none.
    #[schemars(length(max = MAX_TAGS_PER_CHAT))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[schemars(length(max = 500))]
    messages: Vec<TimelineEntry>,
}

#[derive(Serialize, JsonSchema)]
pub struct ExportedVisitor {
    number: SequentialNumber,
    id: String,
    /// The integrator's id of the visitor (sender.id), of an API channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
    name: String,
}

impl ExportedChat {
    fn new(
        chat_export::ExportedChat { chat, entries }: chat_export::ExportedChat,
        inbox: &InboxSettings,
        now: Timestamp,
    ) -> Self {
        let messages = entries.into_iter().map(|entry| TimelineEntry::new(entry, &LinkFilter::default(), now));
        Self {
            chat_id: SequentialNumber(chat.chat_id),
            state: (&chat.state).into(),
            channel: (&chat).into(),
            agent: chat.state.agent().cloned().map(ChatAgent::from),
            opened_at: chat.opened_at.into(),
            updated_at: chat.updated_at.into(),
            rate: chat.rating.map(Name),
            tags: inbox.tag_names(&chat.tag_ids).into_iter().map(str::to_owned).collect(),
            messages: messages.collect(),
            visitor: ExportedVisitor {
                number: SequentialNumber(chat.visitor_number),
                external_id: chat.integrators_id().map(str::to_owned),
                id: chat.external_id,
                name: chat.visitor_name,
            },
            department: chat.department.map(ChatDepartment::from),
        }
    }
}

/// Returns a page as CSV (RFC 4180), with one line for each entry. Only the first page of an export has a header line.
pub fn export_csv(page: &ExportPage, inbox: &InboxSettings, is_first: bool) -> String {
    let mut text = String::new();
    if is_first {
        text.push(BYTE_ORDER_MARK);
        push_line(&mut text, &CSV_COLUMNS.map(str::to_owned));
    }
    for chat_export::ExportedChat { chat, entries } in &page.chats {
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
                optional(chat.integrators_id()),
                inbox.tag_names(&chat.tag_ids).join(", "),
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
    use crate::domain::calls::phone_call::{Call, CallCharge, CallKind, CallLimits};
    use crate::domain::chats::message_content::Content;
    use crate::wire::fields::reader::read_query;
    use crate::wire::sample_data;

    fn parse(parameters: &[(&str, &str)]) -> Result<ExportScope, Error> {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        read_query::<ChatExportQuery>(parameters)?.checked().map(|(scope, _)| scope)
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
        let entry = timeline_entry::TimelineEntry {
            content: Content::Call(Box::new(call)),
            ..sample_data::agent_message("id", now)
        };
        let page = ExportPage {
            chats: vec![chat_export::ExportedChat { chat: sample_data::chat(now), entries: vec![entry] }],
            next: None,
        };
        let inbox = InboxSettings::default();
        let csv = export_csv(&page, &inbox, true);
        assert!(csv.starts_with("\u{feff}\"chat_id\","), "{csv}");
        let expected = "\"call\",\"'+31201234567\",\"positive\",\"Sample department\",\"incoming\",\"end\",\"\",\"61\",\"https://x.example/1.mp3\",\"sample\",\"\"\r\n";
        assert!(csv.ends_with(expected), "{csv}");
        assert!(export_csv(&page, &inbox, false).starts_with("\"1000000000\","), "only the first page has the names");
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
