//! The query parameters, request bodies and response bodies of the /admin/deliveries endpoints, which list, count,
//! show and replay deliveries.

use serde_json::{Value, json};

use crate::domain::chat::Chat;
use crate::domain::delivery::{DeliveryState, Target};
use crate::domain::delivery_search_and_replay::{CappedCount, DeliveryCursor, DeliveryFilter};
use crate::domain::named::Named;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::agent;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::with_fields;
use crate::wire::query_parameters::{query_number, time_range};
use crate::wire::receiver_test::SentRequest;

const MAX_DELIVERIES_PER_PAGE: u64 = 100;
const DEFAULT_DELIVERIES_PER_PAGE: u64 = 50;
/// The maximum length of a channel id or a cursor.
const MAX_ID_CHARS: usize = 64;

/// The query parameters of GET /admin/deliveries.
#[derive(Debug, PartialEq, Eq)]
pub struct DeliveryLogRequest {
    pub filter: DeliveryFilter,
    /// The chat whose deliveries are listed. `None` lists the deliveries of all chats.
    pub chat_id: Option<u64>,
    pub limit: usize,
    /// The position after which the page starts: the `next` value of the previous page. `None` requests the first page.
    pub after: Option<DeliveryCursor>,
}

/// The body of POST /admin/deliveries/replay.
#[derive(Debug, PartialEq, Eq)]
pub enum ReplayRequest {
    /// A single delivery. It is sent again even if it has already succeeded.
    One { chat_id: u64, seq: u64 },
    /// All failed deliveries of a chat.
    Chat {
        chat_id: u64,
        /// The position after which the replay continues: the `next` value in the previous response. `None` in the
        /// first request.
        after: Option<DeliveryCursor>,
    },
    /// All failed deliveries in a time range that match a filter.
    Range {
        filter: DeliveryFilter,
        /// The position after which the replay continues: the `next` value in the previous response. `None` in the
        /// first request.
        after: Option<DeliveryCursor>,
    },
}

/// Parses the query parameters of GET /admin/deliveries. By default, failed deliveries are listed.
pub fn parse_list_request(query: &dyn Fn(&str) -> Option<String>) -> Result<DeliveryLogRequest, Error> {
    let invalid = |name: &str, expected: &str| Error::field(name, expected);
    let number = |name: &str| query_number(query, name);
    let state = match query("state") {
        Some(name) => DeliveryState::parse(&name)
            .ok_or_else(|| Error::field("state", must_be_one_of(&names_of::<DeliveryState>())))?,
        None => DeliveryState::Failed,
    };
    let target = query("target")
        .map(|name| Target::parse(&name).ok_or_else(|| Error::field("target", must_be_one_of(&names_of::<Target>()))));
    let channel_id = query("channel_id");
    if channel_id.as_ref().is_some_and(|id| !is_channel_id(id)) {
        return Err(invalid("channel_id", CHANNEL_ID_EXPECTED));
    }
    let (from, to) = time_range(number("from")?, number("to")?)?;
    let limit = number("limit")?.unwrap_or(DEFAULT_DELIVERIES_PER_PAGE);
    if !(1..=MAX_DELIVERIES_PER_PAGE).contains(&limit) {
        return Err(Error::field("limit", format_args!("must be from 1 to {MAX_DELIVERIES_PER_PAGE}")));
    }
    Ok(DeliveryLogRequest {
        filter: DeliveryFilter { state, target: target.transpose()?, channel_id, from, to },
        chat_id: number("chat_id")?,
        limit: usize::try_from(limit).map_err(Error::internal)?,
        after: query("cursor").map(|text| parse_cursor(&text)).transpose()?,
    })
}

/// Parses the body of POST /admin/deliveries/replay. The body contains either `chat_id` and `seq`, or only `chat_id`,
/// or `from` and `to`.
pub fn parse_replay_request(body: &Value) -> Result<ReplayRequest, Error> {
    let fields = Fields::of(body)?;
    let after = fields.text_or_blank("cursor", MAX_ID_CHARS)?.map(|text| parse_cursor(&text)).transpose()?;
    let require_absent = |names: &[&str], present: &str| match names.iter().find(|name| fields.value(name).is_some()) {
        Some(name) => Err(fields.invalid(name, format_args!("cannot be combined with {present}"))),
        None => Ok(()),
    };
    let Some(chat_id) = whole_number(fields, "chat_id")? else {
        if fields.value("seq").is_some() {
            return Err(fields.invalid("chat_id", "is required with seq"));
        }
        return parse_range(fields, after);
    };
    require_absent(&["from", "to", "channel_id", "target"], "chat_id")?;
    match whole_number(fields, "seq")? {
        Some(seq) => require_absent(&["cursor"], "seq").map(|()| ReplayRequest::One { chat_id, seq }),
        None => Ok(ReplayRequest::Chat { chat_id, after }),
    }
}

fn parse_range(fields: Fields<'_>, after: Option<DeliveryCursor>) -> Result<ReplayRequest, Error> {
    let (from, to) = match (whole_number(fields, "from")?, whole_number(fields, "to")?) {
        (Some(from), Some(to)) => time_range(Some(from), Some(to))?,
        (None, None) => return Err(fields.invalid("chat_id", "or from and to is required")),
        (None, Some(_)) => return Err(fields.invalid("from", "is required")),
        (Some(_), None) => return Err(fields.invalid("to", "is required")),
    };
    let channel_id = fields.text_or_blank("channel_id", MAX_ID_CHARS)?;
    if channel_id.as_ref().is_some_and(|id| !is_channel_id(id)) {
        return Err(fields.invalid("channel_id", CHANNEL_ID_EXPECTED));
    }
    let target = fields.enumerated("target", &names_of::<Target>(), Target::parse)?;
    let filter = DeliveryFilter { target, channel_id, from, to, ..DeliveryFilter::all(DeliveryState::Failed) };
    Ok(ReplayRequest::Range { filter, after })
}

fn whole_number(fields: Fields<'_>, name: &str) -> Result<Option<u64>, Error> {
    let Some(value) = fields.value(name) else { return Ok(None) };
    value.as_u64().map(Some).ok_or_else(|| fields.invalid(name, "must be a whole number"))
}

fn parse_cursor(text: &str) -> Result<DeliveryCursor, Error> {
    DeliveryCursor::parse(text).ok_or_else(|| Error::field("cursor", "must be the next of an earlier response"))
}

const CHANNEL_ID_EXPECTED: &str = "must be the identifier of a channel";

fn is_channel_id(text: &str) -> bool {
    (1..=MAX_ID_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn names_of<T: Named>() -> String {
    T::names().join(", ")
}

fn must_be_one_of(names: &str) -> String {
    format!("must be one of {names}")
}

/// The query parameters of GET /admin/deliveries/counts.
#[derive(Debug, PartialEq, Eq)]
pub struct DeliveryCountsRequest {
    pub counts_failed: bool,
    pub counts_pending: bool,
    /// The time range of the entries whose failed deliveries are counted.
    pub from: Timestamp,
    pub to: Timestamp,
}

/// Parses the query parameters of GET /admin/deliveries/counts. By default, both failed and pending deliveries are
/// counted.
pub fn parse_counts_request(query: &dyn Fn(&str) -> Option<String>) -> Result<DeliveryCountsRequest, Error> {
    let (counts_failed, counts_pending) = match query("state").as_deref() {
        None => (true, true),
        Some("failed") => (true, false),
        Some("pending") => (false, true),
        Some(_) => return Err(Error::field("state", must_be_one_of("failed, pending"))),
    };
    let (from, to) = time_range(query_number(query, "from")?, query_number(query, "to")?)?;
    Ok(DeliveryCountsRequest { counts_failed, counts_pending, from, to })
}

pub fn counts_json(failed: Option<CappedCount>, pending: Option<CappedCount>) -> Value {
    let count = |CappedCount { count, has_more }| json!({ "count": count, "has_more": has_more });
    json!({ "failed": failed.map(count), "pending": pending.map(count) })
}

/// Returns a delivery with its request, or with the reason why there is no request. Returns `None` if the entry has no
/// delivery.
pub fn delivery_json(
    chat: &Chat,
    entry: &TimelineEntry,
    request: Result<&SentRequest, &'static str>,
    now: Timestamp,
) -> Option<Value> {
    let request_json = request.ok().map(|request| json!(request));
    let fields = [("request", json!(request_json)), ("request_error", json!(request.err()))];
    Some(with_fields(row_json(chat, entry, now)?, fields))
}

/// Returns a page of the delivery log. It does not contain the texts of messages.
pub fn page_json(rows: &[(Chat, TimelineEntry)], next: Option<DeliveryCursor>, now: Timestamp) -> Value {
    let rows: Vec<Value> = rows.iter().filter_map(|(chat, entry)| row_json(chat, entry, now)).collect();
    json!({ "deliveries": rows, "next": cursor(next) })
}

fn row_json(chat: &Chat, entry: &TimelineEntry, now: Timestamp) -> Option<Value> {
    let delivery = entry.delivery.as_ref()?;
    let row = with_fields(
        agent::logged_delivery_json(delivery, now),
        [
            ("chat_id", json!(entry.chat_id)),
            ("seq", json!(entry.seq)),
            ("id", json!(entry.id)),
            ("target", json!(delivery.target.name())),
            ("type", json!(entry.content.name())),
            ("channel_id", json!(chat.channel_id)),
            ("since", json!(entry.at.seconds())),
        ],
    );
    Some(match &entry.webhook_dispatch {
        Some(webhook_dispatch) => with_fields(row, [("webhook_id", json!(webhook_dispatch.webhook_id))]),
        None => row,
    })
}

pub fn replay_result_json(replayed: usize, skipped: usize, next: Option<DeliveryCursor>) -> Value {
    json!({ "replayed": replayed, "skipped": skipped, "next": cursor(next) })
}

fn cursor(next: Option<DeliveryCursor>) -> Option<String> {
    next.map(DeliveryCursor::to_text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse_query(parameters: &[(&str, &str)]) -> Result<DeliveryLogRequest, Error> {
        let find = |name: &str| {
            parameters.iter().find(|(parameter, _)| *parameter == name).map(|(_, value)| (*value).to_owned())
        };
        parse_list_request(&find)
    }

    fn invalid_field<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
        result.unwrap_err().invalid_field().unwrap().to_owned()
    }

    #[test]
    fn failed_deliveries_are_the_default() {
        let default = DeliveryLogRequest {
            filter: DeliveryFilter::all(DeliveryState::Failed),
            chat_id: None,
            limit: 50,
            after: None,
        };
        assert_eq!(parse_query(&[]).unwrap(), default);
        let all = [
            ("state", "superseded"),
            ("target", "bot"),
            ("chat_id", "7"),
            ("channel_id", "CH1"),
            ("from", "5"),
            ("to", "5"),
            ("limit", "100"),
            ("cursor", "7-3"),
        ];
        let filter = DeliveryFilter {
            state: DeliveryState::Superseded,
            target: Some(Target::Bot),
            channel_id: Some("CH1".into()),
            from: Timestamp(5_000),
            to: Timestamp(5_999),
        };
        let after = Some(DeliveryCursor { at: None, chat_id: 7, seq: 3 });
        assert_eq!(parse_query(&all).unwrap(), DeliveryLogRequest { filter, chat_id: Some(7), limit: 100, after });
    }

    #[test]
    fn counts_are_selected_by_state() {
        let parse = |parameters: &[(&str, &str)]| {
            let find = |name: &str| parameters.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
            parse_counts_request(&find)
        };
        let (from, to) = (Timestamp(5_000), Timestamp(5_999));
        for (state, counts_failed, counts_pending) in [("failed", true, false), ("pending", false, true)] {
            let expected = DeliveryCountsRequest { counts_failed, counts_pending, from, to };
            assert_eq!(parse(&[("state", state), ("from", "5"), ("to", "5")]).unwrap(), expected);
        }
        let both = parse(&[]).unwrap();
        assert!(both.counts_failed && both.counts_pending);
        for (name, value) in [("state", "delivered"), ("from", "x"), ("to", "-1")] {
            assert_eq!(invalid_field(parse(&[(name, value)])), name);
        }
    }

    #[test]
    fn error_names_the_invalid_parameter() {
        let table = [
            ("state", "lost"),
            ("state", ""),
            ("state", "Failed"),
            ("target", "visitor"),
            ("target", ""),
            ("chat_id", "x"),
            ("chat_id", "-1"),
            ("channel_id", ""),
            ("channel_id", "a#b"),
            ("from", "yesterday"),
            ("from", "1.5"),
            ("to", ""),
            ("limit", "0"),
            ("limit", "101"),
            ("limit", "all"),
            ("cursor", ""),
            ("cursor", "next"),
        ];
        for (name, value) in table {
            assert_eq!(invalid_field(parse_query(&[(name, value)])), name, "{value:?}");
        }
        assert_eq!(invalid_field(parse_query(&[("from", "6"), ("to", "5")])), "to");
        assert_eq!(invalid_field(parse_query(&[("channel_id", &"x".repeat(65))])), "channel_id");
    }

    #[test]
    fn replay_takes_one_delivery_a_chat_or_a_time_range() {
        let after = Some(DeliveryCursor { at: Some(Timestamp(1)), chat_id: 7, seq: 3 });
        let range = |filter, after| ReplayRequest::Range { filter, after };
        let first_ten_seconds =
            DeliveryFilter { from: Timestamp(0), to: Timestamp(9_999), ..DeliveryFilter::all(DeliveryState::Failed) };
        let of_bots =
            DeliveryFilter { target: Some(Target::Bot), channel_id: Some("CH".into()), ..first_ten_seconds.clone() };
        let table = [
            (json!({ "chat_id": 7, "seq": 3 }), ReplayRequest::One { chat_id: 7, seq: 3 }),
            (json!({ "chat_id": 7, "from": null }), ReplayRequest::Chat { chat_id: 7, after: None }),
            (json!({ "chat_id": 7, "cursor": "1-7-3" }), ReplayRequest::Chat { chat_id: 7, after }),
            (json!({ "from": 0, "to": 9 }), range(first_ten_seconds.clone(), None)),
            (json!({ "from": 0, "to": 9, "cursor": "1-7-3" }), range(first_ten_seconds, after)),
            (json!({ "from": 0, "to": 9, "target": "bot", "channel_id": "CH" }), range(of_bots, None)),
        ];
        for (body, expected) in table {
            assert_eq!(parse_replay_request(&body).unwrap(), expected, "{body}");
        }
    }

    #[test]
    fn error_names_the_invalid_field_of_a_replay() {
        let table = [
            (json!({}), "chat_id"),
            (json!({ "chat_id": "7" }), "chat_id"),
            (json!({ "chat_id": -7 }), "chat_id"),
            (json!({ "seq": 3 }), "chat_id"),
            (json!({ "chat_id": 7, "seq": 1.5 }), "seq"),
            (json!({ "chat_id": 7, "seq": 3, "cursor": "7-3" }), "cursor"),
            (json!({ "chat_id": 7, "cursor": 3 }), "cursor"),
            (json!({ "chat_id": 7, "cursor": "x" }), "cursor"),
            (json!({ "chat_id": 7, "from": 0 }), "from"),
            (json!({ "chat_id": 7, "to": 0 }), "to"),
            (json!({ "chat_id": 7, "seq": 3, "target": "bot" }), "target"),
            (json!({ "chat_id": 7, "channel_id": "CH" }), "channel_id"),
            (json!({ "from": 0 }), "to"),
            (json!({ "to": 9 }), "from"),
            (json!({ "from": "0", "to": 9 }), "from"),
            (json!({ "from": 0, "to": true }), "to"),
            (json!({ "from": 10, "to": 9 }), "to"),
            (json!({ "from": 0, "to": 9, "target": "all" }), "target"),
            (json!({ "from": 0, "to": 9, "channel_id": 5 }), "channel_id"),
            (json!({ "from": 0, "to": 9, "channel_id": "a/b" }), "channel_id"),
            (json!({ "from": 0, "to": 9, "cursor": [] }), "cursor"),
        ];
        for (body, field) in table {
            assert_eq!(invalid_field(parse_replay_request(&body)), field, "{body}");
        }
        assert!(parse_replay_request(&json!([])).is_err());
    }
}
