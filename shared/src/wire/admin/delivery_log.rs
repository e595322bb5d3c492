//! The /admin/deliveries endpoints, which list, count, show and replay deliveries.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{DeliveryState, Target};
use crate::domain::deliveries::delivery_search_and_replay::{self, DeliveryCursor, DeliveryFilter};
use crate::domain::named::Named;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::receiver_test::SentRequest;
use crate::wire::agent::Delivery;
use crate::wire::channels::message_content::MessageType;
use crate::wire::fields::query_parameters::time_range;
use crate::wire::fields::values::{
    AnyText, Name, NextCursor, NotNull, SequentialNumber, UnixSeconds, Whole, inline_schema,
};

const MAX_DELIVERIES_PER_PAGE: u64 = 100;
const DEFAULT_DELIVERIES_PER_PAGE: u64 = 50;
/// The maximum length of a channel id or a cursor.
const MAX_ID_CHARS: usize = 64;
const CHANNEL_ID_PATTERN: &str = "^[A-Za-z0-9]{1,64}$";
const CURSOR_PATTERN: &str = "^[0-9]+-[0-9]+(-[0-9]+)?$";

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/deliveries", "deliveries", "Lists deliveries with their attempts, newest first")
            .describe(
                "Failed deliveries newest first, deliveries in other states by chat. Message texts are not included. A \
                 page can be shorter than `limit` although more follow: repeat the request with `next` as `cursor` \
                 until `next` is null.",
            )
            .query::<DeliveriesQuery>()
            .answers::<Deliveries>(
                200,
                "A page of deliveries. It does not contain message texts, unless a receiver repeated one in its \
                 response.",
            )
            .fails(&[Failure::NotFound]),
        Operation::get(
            "/admin/deliveries/counts",
            "deliveryCounts",
            "Counts failed and pending deliveries, up to 100 of each",
        )
        .describe("`has_more` says that there are more than 100.")
        .query::<DeliveryCountsQuery>()
        .answers::<DeliveryCounts>(200, "The numbers of deliveries. A number that was not requested is null."),
        Operation::get("/admin/deliveries/{chat_id}/{seq}", "delivery", "Shows a delivery with its request")
            .describe(
                "The request is built again from the stored data. It differs from the request that was sent if the \
                 visitor, the agents, the receiver's address or its secrets have changed since. 404 for an entry \
                 without a delivery.",
            )
            .answers::<ShownDelivery>(
                200,
                "The delivery and the request of its newest attempt, or of the next one if none was made.",
            ),
        Operation::post(
            "/admin/deliveries/replay",
            "replayDeliveries",
            "Sends failed deliveries again: one, those of a chat, or those of a period, oldest first",
        )
        .describe(
            "Either one delivery (`chat_id` and `seq`), those of a chat (`chat_id`), or those of a period (`from` and \
             `to`). Repeat the request with `next` as `cursor` until `next` is null. Receivers get the same \
             `webhook-id` again.",
        )
        .body::<ReplayRequest>()
        .answers::<ReplayedDeliveries>(
            202,
            "The numbers of replayed and skipped deliveries. Events to which a bot should have reacted are skipped, \
             because the bot does not have the chat any more. While next is not null, repeat the request with next as \
             cursor.",
        )
        .fails(&[Failure::NotFound, Failure::Conflict]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct DeliveriesQuery {
    /// Selects deliveries in this state.
    #[serde(default)]
    #[schemars(extend("default" = DeliveryState::Failed.name()))]
    state: NotNull<Name<DeliveryState>>,
    /// Selects deliveries to this kind of receiver.
    #[serde(default)]
    target: NotNull<Name<Target>>,
    /// Selects deliveries of this chat.
    #[serde(default)]
    chat_id: NotNull<u64>,
    /// Selects deliveries of this channel.
    #[serde(default)]
    channel_id: NotNull<ChannelId>,
    /// Unix seconds.
    #[serde(default)]
    from: NotNull<u64>,
    /// Unix seconds, inclusive.
    #[serde(default)]
    to: NotNull<u64>,
    /// The page size.
    #[serde(default)]
    #[schemars(extend("default" = DEFAULT_DELIVERIES_PER_PAGE))]
    limit: NotNull<Whole<1, MAX_DELIVERIES_PER_PAGE>>,
    /// The value of next from the previous page.
    #[serde(default)]
    cursor: NotNull<LogCursor>,
}

/// The deliveries that a query selects.
#[derive(Debug, PartialEq, Eq)]
pub struct DeliveryLogRequest {
    pub filter: DeliveryFilter,
    /// The chat whose deliveries are listed. `None` lists the deliveries of all chats.
    pub chat_id: Option<u64>,
    pub limit: usize,
    /// The position after which the page starts: the `next` value of the previous page. `None` requests the first page.
    pub after: Option<DeliveryCursor>,
}

impl DeliveriesQuery {
    pub fn checked(self) -> Result<DeliveryLogRequest, Error> {
        let Self { state, target, chat_id, channel_id, from, to, limit, cursor } = self;
        let (from, to) = time_range(from.0, to.0)?;
        let limit = limit.0.map_or(DEFAULT_DELIVERIES_PER_PAGE, |Whole(limit)| limit);
        Ok(DeliveryLogRequest {
            filter: DeliveryFilter {
                target: target.0.map(|Name(target)| target),
                channel_id: channel_id.0.map(|ChannelId(id)| id),
                from,
                to,
                ..DeliveryFilter::all(state.0.map_or(DeliveryState::Failed, |Name(state)| state))
            },
            chat_id: chat_id.0,
            limit: usize::try_from(limit).map_err(Error::internal)?,
            after: cursor.0.map(|LogCursor(cursor)| cursor),
        })
    }
}

/// The identifier of a channel.
#[derive(Deserialize)]
#[serde(try_from = "AnyText<MAX_ID_CHARS>")]
struct ChannelId(String);

impl TryFrom<AnyText<MAX_ID_CHARS>> for ChannelId {
    type Error = &'static str;

    fn try_from(AnyText(text): AnyText<MAX_ID_CHARS>) -> Result<Self, Self::Error> {
        let is_id = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_id { Ok(Self(text)) } else { Err("must be the identifier of a channel") }
    }
}

inline_schema!(ChannelId, "ChannelId", json_schema!({ "type": "string", "pattern": CHANNEL_ID_PATTERN }));

/// A position in the delivery log.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "AnyText<MAX_ID_CHARS>")]
struct LogCursor(DeliveryCursor);

impl TryFrom<AnyText<MAX_ID_CHARS>> for LogCursor {
    type Error = &'static str;

    fn try_from(AnyText(text): AnyText<MAX_ID_CHARS>) -> Result<Self, Self::Error> {
        DeliveryCursor::parse(&text).map(Self).ok_or("must be the next of an earlier response")
    }
}

inline_schema!(LogCursor, "LogCursor", json_schema!({ "type": "string", "pattern": CURSOR_PATTERN }));

#[derive(Deserialize, JsonSchema)]
pub struct DeliveryCountsQuery {
    /// Counts only deliveries in this state. Counting failed deliveries is cheaper.
    #[serde(default)]
    state: NotNull<CountedState>,
    /// Unix seconds.
    #[serde(default)]
    from: NotNull<u64>,
    /// Unix seconds, inclusive.
    #[serde(default)]
    to: NotNull<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum CountedState {
    Failed,
    Pending,
}

impl DeliveryCountsQuery {
    pub fn counts_failed(&self) -> bool {
        self.state.0 != Some(CountedState::Pending)
    }

    pub fn counts_pending(&self) -> bool {
        self.state.0 != Some(CountedState::Failed)
    }

    /// Returns the time range of the entries whose failed deliveries are counted.
    pub fn times(&self) -> Result<(Timestamp, Timestamp), Error> {
        time_range(self.from.0, self.to.0)
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DeliveryCounts {
    /// Failed deliveries of entries between from and to. A failure is counted up to nine seconds before the list shows
    /// it.
    pub failed: Option<CappedCount>,
    /// Deliveries that are pending now. from and to do not apply.
    pub pending: Option<CappedCount>,
}

/// A number of deliveries, counted up to 100.
#[derive(Serialize, JsonSchema)]
pub struct CappedCount {
    #[schemars(range(max = 100))]
    count: u32,
    /// Whether there are, or may be, more deliveries.
    has_more: bool,
}

impl From<delivery_search_and_replay::CappedCount> for CappedCount {
    fn from(
        delivery_search_and_replay::CappedCount { count, has_more }: delivery_search_and_replay::CappedCount,
    ) -> Self {
        Self { count, has_more }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Deliveries {
    #[schemars(length(max = MAX_DELIVERIES_PER_PAGE))]
    deliveries: Vec<DeliveryLogEntry>,
    next: NextCursor,
}

impl Deliveries {
    pub fn new(rows: &[(Chat, TimelineEntry)], next: Option<DeliveryCursor>, now: Timestamp) -> Self {
        let rows = rows.iter().filter_map(|(chat, entry)| DeliveryLogEntry::new(chat, entry, now));
        Self { deliveries: rows.collect(), next: NextCursor(next.map(DeliveryCursor::to_text)) }
    }
}

/// A delivery, without the text of its message.
#[derive(Serialize, JsonSchema)]
pub struct DeliveryLogEntry {
    /// 0 for an event that belongs to no chat (agent_status_changed, channel_status_changed).
    chat_id: u64,
    seq: SequentialNumber,
    #[schemars(extend("format" = "uuid"))]
    id: String,
    target: Name<Target>,
    r#type: MessageType,
    channel_id: String,
    /// The integrator's id of the visitor (sender.id), of an API channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
    since: UnixSeconds,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook_id: Option<String>,
    #[serde(flatten)]
    delivery: Delivery,
}

impl DeliveryLogEntry {
    /// Returns `None` if the entry has no delivery.
    fn new(chat: &Chat, entry: &TimelineEntry, now: Timestamp) -> Option<Self> {
        let delivery = entry.delivery.as_ref()?;
        Some(Self {
            chat_id: entry.chat_id,
            seq: SequentialNumber(entry.seq),
            id: entry.id.clone(),
            target: Name(delivery.target),
            r#type: MessageType::from(&entry.content),
            channel_id: chat.channel_id.clone(),
            external_id: chat.integrators_id().map(str::to_owned),
            since: entry.at.into(),
            webhook_id: entry.webhook_dispatch.as_ref().map(|dispatch| dispatch.webhook_id.clone()),
            delivery: Delivery::new(delivery, now),
        })
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ShownDelivery {
    #[serde(flatten)]
    entry: DeliveryLogEntry,
    /// Null if the delivery cannot be sent, and for calls.
    request: Option<SentRequest>,
    /// Why there is no request, for example because the visitor was erased.
    request_error: Option<&'static str>,
}

impl ShownDelivery {
    /// `request` is the request of the delivery, or the reason why there is none. Returns `None` if the entry has no
    /// delivery.
    pub fn new(
        chat: &Chat,
        entry: &TimelineEntry,
        request: Result<SentRequest, &'static str>,
        now: Timestamp,
    ) -> Option<Self> {
        let entry = DeliveryLogEntry::new(chat, entry, now)?;
        let (request, request_error) = match request {
            Ok(request) => (Some(request), None),
            Err(obstacle) => (None, Some(obstacle)),
        };
        Some(Self { entry, request, request_error })
    }
}

/// Requires chat_id and seq, or only chat_id, or from and to.
#[derive(Deserialize)]
pub struct ReplayRequest {
    chat_id: Option<u64>,
    seq: Option<u64>,
    from: Option<u64>,
    to: Option<u64>,
    channel_id: Option<ChannelId>,
    target: Option<Name<Target>>,
    cursor: Option<LogCursor>,
}

/// What to replay.
#[derive(Debug, PartialEq, Eq)]
pub enum Replay {
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

impl ReplayRequest {
    pub fn checked(self) -> Result<Replay, Error> {
        let Self { chat_id, seq, from, to, channel_id, target, cursor } = self;
        let after = cursor.map(|LogCursor(cursor)| cursor);
        let Some(chat_id) = chat_id else {
            if seq.is_some() {
                return Err(Error::field("chat_id", "is required with seq"));
            }
            let (from, to) = match (from, to) {
                (Some(_), Some(_)) => time_range(from, to)?,
                (None, None) => return Err(Error::field("chat_id", "or from and to is required")),
                (None, Some(_)) => return Err(Error::field("from", "is required")),
                (Some(_), None) => return Err(Error::field("to", "is required")),
            };
            let (target, channel_id) = (target.map(|Name(target)| target), channel_id.map(|ChannelId(id)| id));
            let filter = DeliveryFilter { target, channel_id, from, to, ..DeliveryFilter::all(DeliveryState::Failed) };
            return Ok(Replay::Range { filter, after });
        };
        let of_range = [
            ("from", from.is_some()),
            ("to", to.is_some()),
            ("channel_id", channel_id.is_some()),
            ("target", target.is_some()),
        ];
        if let Some((name, _)) = of_range.into_iter().find(|(_, is_present)| *is_present) {
            return Err(Error::field(name, "cannot be combined with chat_id"));
        }
        match seq {
            Some(_) if after.is_some() => Err(Error::field("cursor", "cannot be combined with seq")),
            Some(seq) => Ok(Replay::One { chat_id, seq }),
            None => Ok(Replay::Chat { chat_id, after }),
        }
    }
}

impl JsonSchema for ReplayRequest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReplayRequest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number = || json_schema!({ "type": "integer", "minimum": 0, "format": "int64" });
        let cursor = || json_schema!({ "type": ["string", "null"], "pattern": CURSOR_PATTERN });
        let absent = || json_schema!({ "type": "null" });
        let targets: Vec<Option<&str>> = Target::names().into_iter().map(Some).chain([None]).collect();
        json_schema!({
            "description": "Requires chat_id and seq, or only chat_id, or from and to.",
            "anyOf": [
                {
                    "type": "object",
                    "required": ["chat_id"],
                    "properties": {
                        "chat_id": number(),
                        "seq": { "type": ["integer", "null"], "minimum": 0, "format": "int64" },
                        "cursor": cursor(),
                    },
                },
                {
                    "type": "object",
                    "required": ["from", "to"],
                    "properties": {
                        "chat_id": absent(),
                        "seq": absent(),
                        "from": number(),
                        "to": number(),
                        "channel_id": { "type": ["string", "null"], "pattern": CHANNEL_ID_PATTERN },
                        "target": { "type": ["string", "null"], "enum": targets },
                        "cursor": cursor(),
                    },
                },
            ],
        })
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ReplayedDeliveries {
    replayed: usize,
    skipped: usize,
    next: NextCursor,
}

impl ReplayedDeliveries {
    pub fn new(replayed: usize, skipped: usize, next: Option<DeliveryCursor>) -> Self {
        Self { replayed, skipped, next: NextCursor(next.map(DeliveryCursor::to_text)) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::fields::reader::{read, read_query};

    fn parse_query(parameters: &[(&str, &str)]) -> Result<DeliveryLogRequest, Error> {
        read_parameters::<DeliveriesQuery>(parameters)?.checked()
    }

    fn read_parameters<T: DeserializeOwned>(parameters: &[(&str, &str)]) -> Result<T, Error> {
        read_query(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    fn parse_replay_request(body: &Value) -> Result<Replay, Error> {
        read::<ReplayRequest>(body)?.checked()
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
            target: Some(Target::Bot),
            channel_id: Some("CH1".into()),
            from: Timestamp(5_000),
            to: Timestamp(5_999),
            ..DeliveryFilter::all(DeliveryState::Superseded)
        };
        let after = Some(DeliveryCursor { at: None, chat_id: 7, seq: 3 });
        assert_eq!(parse_query(&all).unwrap(), DeliveryLogRequest { filter, chat_id: Some(7), limit: 100, after });
    }

    #[test]
    fn counts_are_selected_by_state() {
        let parse = |parameters: &[(&str, &str)]| {
            let query: DeliveryCountsQuery = read_parameters(parameters)?;
            Ok::<_, Error>((query.counts_failed(), query.counts_pending(), query.times()?))
        };
        let times = (Timestamp(5_000), Timestamp(5_999));
        for (state, counts_failed, counts_pending) in [("failed", true, false), ("pending", false, true)] {
            let expected = (counts_failed, counts_pending, times);
            assert_eq!(parse(&[("state", state), ("from", "5"), ("to", "5")]).unwrap(), expected);
        }
        assert_eq!(parse(&[]).unwrap(), (true, true, (Timestamp(0), Timestamp(u64::MAX))));
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
        let range = |filter, after| Replay::Range { filter, after };
        let first_ten_seconds =
            DeliveryFilter { from: Timestamp(0), to: Timestamp(9_999), ..DeliveryFilter::all(DeliveryState::Failed) };
        let of_bots =
            DeliveryFilter { target: Some(Target::Bot), channel_id: Some("CH".into()), ..first_ten_seconds.clone() };
        let table = [
            (json!({ "chat_id": 7, "seq": 3 }), Replay::One { chat_id: 7, seq: 3 }),
            (json!({ "chat_id": 7, "from": null }), Replay::Chat { chat_id: 7, after: None }),
            (json!({ "chat_id": 7, "cursor": "1-7-3" }), Replay::Chat { chat_id: 7, after }),
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
