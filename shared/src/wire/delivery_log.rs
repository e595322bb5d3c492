//! The ledger of deliveries as admins ask for it, see it, and have it sent again.

use serde_json::{Value, json};

use crate::domain::chat::Chat;
use crate::domain::delivery::{DeliveryState, Target};
use crate::domain::delivery_log::{Place, Wanted};
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::agent;
use crate::wire::fields::Fields;

/// Deliveries in an answer: the most, and how many when nothing is said.
const MAX_DELIVERIES_PER_PAGE: u64 = 100;
const DEFAULT_DELIVERIES_PER_PAGE: u64 = 50;
/// Characters of a channel's identifier.
const MAX_ID_CHARS: usize = 64;

const STATES: &str = "pending, delivered, failed, superseded";
const TARGETS: &str = "channel, bot, webhook";

/// GET /admin/deliveries.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    /// Which deliveries.
    pub wanted: Wanted,
    /// Of this chat alone.
    pub chat_id: Option<u64>,
    /// The most of them.
    pub limit: usize,
    /// Where the page before ended.
    pub after: Option<Place>,
}

/// POST /admin/deliveries/replay.
#[derive(Debug, PartialEq, Eq)]
pub enum Replay {
    /// This one.
    One {
        /// The chat.
        chat_id: u64,
        /// The entry's number.
        seq: u64,
    },
    /// What failed in a chat.
    Chat {
        /// The chat.
        chat_id: u64,
        /// Where the request before ended.
        after: Option<Place>,
    },
    /// What failed in a time.
    Range {
        /// Which deliveries.
        wanted: Wanted,
        /// Where the request before ended.
        after: Option<Place>,
    },
}

/// Reads the parameters of the query.
pub fn question(query: &dyn Fn(&str) -> Option<String>) -> Result<Question, Error> {
    let refuse = |name: &str, expected: &str| Error::field(name, expected);
    let number = |name: &str| {
        let parse = |text: String| text.parse::<u64>().map_err(|_| refuse(name, "must be a whole number"));
        query(name).map(parse).transpose()
    };
    let state = match query("state") {
        Some(name) => DeliveryState::parse(&name).ok_or_else(|| Error::field("state", one_of(STATES)))?,
        None => DeliveryState::Failed,
    };
    let target =
        query("target").map(|name| Target::parse(&name).ok_or_else(|| Error::field("target", one_of(TARGETS))));
    let channel_id = query("channel_id");
    if channel_id.as_ref().is_some_and(|id| !is_identifier(id)) {
        return Err(refuse("channel_id", NO_IDENTIFIER));
    }
    let (from, to) = span(number("from")?, number("to")?)?;
    let limit = number("limit")?.unwrap_or(DEFAULT_DELIVERIES_PER_PAGE);
    if !(1..=MAX_DELIVERIES_PER_PAGE).contains(&limit) {
        return Err(Error::field("limit", format_args!("must be from 1 to {MAX_DELIVERIES_PER_PAGE}")));
    }
    Ok(Question {
        wanted: Wanted { state, target: target.transpose()?, channel_id, from, to },
        chat_id: number("chat_id")?,
        limit: usize::try_from(limit).map_err(Error::internal)?,
        after: query("cursor").map(|text| place(&text)).transpose()?,
    })
}

/// Reads what is to be sent again: `chat_id` and `seq`, `chat_id` alone, or `from` and `to`.
pub fn replay(body: &Value) -> Result<Replay, Error> {
    let fields = Fields::of(body)?;
    let after = fields.exact_text("cursor", MAX_ID_CHARS)?.map(|text| place(&text)).transpose()?;
    let alone = |names: &[&str], beside: &str| match names.iter().find(|name| fields.value(name).is_some()) {
        Some(name) => Err(fields.refuse(name, format_args!("cannot be given together with {beside}"))),
        None => Ok(()),
    };
    let Some(chat_id) = whole(fields, "chat_id")? else {
        if fields.value("seq").is_some() {
            return Err(fields.refuse("chat_id", "is required with seq"));
        }
        return range(fields, after);
    };
    alone(&["from", "to", "channel_id", "target"], "chat_id")?;
    match whole(fields, "seq")? {
        Some(seq) => alone(&["cursor"], "seq").map(|()| Replay::One { chat_id, seq }),
        None => Ok(Replay::Chat { chat_id, after }),
    }
}

fn range(fields: Fields<'_>, after: Option<Place>) -> Result<Replay, Error> {
    let (from, to) = match (whole(fields, "from")?, whole(fields, "to")?) {
        (Some(from), Some(to)) => span(Some(from), Some(to))?,
        (None, None) => return Err(fields.refuse("chat_id", "or from and to is required")),
        (None, Some(_)) => return Err(fields.refuse("from", "is required")),
        (Some(_), None) => return Err(fields.refuse("to", "is required")),
    };
    let channel_id = fields.exact_text("channel_id", MAX_ID_CHARS)?;
    if channel_id.as_ref().is_some_and(|id| !is_identifier(id)) {
        return Err(fields.refuse("channel_id", NO_IDENTIFIER));
    }
    let target = fields.one_of("target", TARGETS, Target::parse)?;
    let wanted = Wanted { target, channel_id, from, to, ..Wanted::all(DeliveryState::Failed) };
    Ok(Replay::Range { wanted, after })
}

fn whole(fields: Fields<'_>, name: &str) -> Result<Option<u64>, Error> {
    let Some(value) = fields.value(name) else { return Ok(None) };
    value.as_u64().map(Some).ok_or_else(|| fields.refuse(name, "must be a whole number"))
}

/// Whole seconds as moments: the last second belongs to the span.
fn span(from: Option<u64>, to: Option<u64>) -> Result<(Timestamp, Timestamp), Error> {
    let from = from.unwrap_or(0).saturating_mul(1_000);
    let to = to.map_or(u64::MAX, |to| to.saturating_mul(1_000).saturating_add(999));
    if from > to {
        return Err(Error::field("to", "must not be before from"));
    }
    Ok((Timestamp(from), Timestamp(to)))
}

fn place(text: &str) -> Result<Place, Error> {
    Place::parse(text).ok_or_else(|| Error::field("cursor", "must be the next of an earlier answer"))
}

const NO_IDENTIFIER: &str = "must be the identifier of a channel";

fn is_identifier(text: &str) -> bool {
    (1..=MAX_ID_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn one_of(names: &str) -> String {
    format!("must be one of {names}")
}

/// A page of the ledger. Nothing of what was written is in it.
pub fn page(rows: &[(Chat, Entry)], next: Option<Place>, now: Timestamp) -> Value {
    let rows: Vec<Value> = rows.iter().filter_map(|(chat, entry)| row(chat, entry, now)).collect();
    json!({ "deliveries": rows, "next": cursor(next) })
}

fn row(chat: &Chat, entry: &Entry, now: Timestamp) -> Option<Value> {
    let delivery = entry.delivery.as_ref()?;
    let mut row = agent::delivery(delivery, now);
    let mut add = |name: &str, value: Value| {
        if let Some(fields) = row.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    };
    add("chat_id", json!(entry.chat_id));
    add("seq", json!(entry.seq));
    add("id", json!(entry.id));
    add("target", json!(delivery.target.name()));
    add("type", json!(entry.content.kind.name()));
    add("channel_id", json!(chat.channel_id));
    add("since", json!(entry.at.seconds()));
    if let Some(occurrence) = &entry.occurrence {
        add("webhook_id", json!(occurrence.webhook_id));
    }
    Some(row)
}

/// What became of a replay.
pub fn replayed(replayed: usize, skipped: usize, next: Option<Place>) -> Value {
    json!({ "replayed": replayed, "skipped": skipped, "next": cursor(next) })
}

fn cursor(next: Option<Place>) -> Option<String> {
    next.map(Place::to_text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Reads a query of these parameters.
    fn asked(parameters: &[(&str, &str)]) -> Result<Question, Error> {
        let find =
            |name: &str| parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        question(&find)
    }

    fn wrong_field<T: std::fmt::Debug>(read: Result<T, Error>) -> String {
        read.unwrap_err().wrong_field().unwrap().to_owned()
    }

    #[test]
    fn a_question_is_about_failures_unless_it_says_otherwise() {
        let usual = Question { wanted: Wanted::all(DeliveryState::Failed), chat_id: None, limit: 50, after: None };
        assert_eq!(asked(&[]).unwrap(), usual);
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
        let wanted = Wanted {
            state: DeliveryState::Superseded,
            target: Some(Target::Bot),
            channel_id: Some("CH1".into()),
            from: Timestamp(5_000),
            to: Timestamp(5_999),
        };
        let after = Some(Place { at: None, chat_id: 7, seq: 3 });
        assert_eq!(asked(&all).unwrap(), Question { wanted, chat_id: Some(7), limit: 100, after });
    }

    #[test]
    fn every_wrong_parameter_is_named() {
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
            assert_eq!(wrong_field(asked(&[(name, value)])), name, "{value:?}");
        }
        assert_eq!(wrong_field(asked(&[("from", "6"), ("to", "5")])), "to");
        assert_eq!(wrong_field(asked(&[("channel_id", &"x".repeat(65))])), "channel_id");
    }

    #[test]
    fn one_delivery_a_chat_or_a_range_is_sent_again() {
        let after = Some(Place { at: Some(Timestamp(1)), chat_id: 7, seq: 3 });
        let range = |wanted, after| Replay::Range { wanted, after };
        let span = Wanted { from: Timestamp(0), to: Timestamp(9_999), ..Wanted::all(DeliveryState::Failed) };
        let of_bots = Wanted { target: Some(Target::Bot), channel_id: Some("CH".into()), ..span.clone() };
        let table = [
            (json!({ "chat_id": 7, "seq": 3 }), Replay::One { chat_id: 7, seq: 3 }),
            (json!({ "chat_id": 7, "from": null }), Replay::Chat { chat_id: 7, after: None }),
            (json!({ "chat_id": 7, "cursor": "1-7-3" }), Replay::Chat { chat_id: 7, after }),
            (json!({ "from": 0, "to": 9 }), range(span.clone(), None)),
            (json!({ "from": 0, "to": 9, "cursor": "1-7-3" }), range(span, after)),
            (json!({ "from": 0, "to": 9, "target": "bot", "channel_id": "CH" }), range(of_bots, None)),
        ];
        for (body, expected) in table {
            assert_eq!(replay(&body).unwrap(), expected, "{body}");
        }
    }

    #[test]
    fn every_wrong_field_of_a_replay_is_named() {
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
            assert_eq!(wrong_field(replay(&body)), field, "{body}");
        }
        assert!(replay(&json!([])).is_err());
    }
}
