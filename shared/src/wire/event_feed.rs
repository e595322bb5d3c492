//! The messages of a channel, or the events of a webhook, that a program fetches instead of receiving them.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::contract::{Failure, Operation};
use crate::domain::deliveries::delivery_search_and_replay::DeliveryCursor;
use crate::error::Error;
use crate::store::chats::delivery::fetched::MAX_FETCHED;
use crate::wire::fields::values::{NotNull, Text, Whole};

const MAX_EVENTS: u64 = MAX_FETCHED as u64;
const MAX_WAIT_SECONDS: u64 = 20;
const MAX_CURSOR_CHARS: usize = 2_000;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/channel/{secret}/{channel_id}/events", "channelEvents", "Fetches the messages to visitors")
            .describe(
                "For a channel with `pull`. Each event has the headers and the body that would be posted; verify the \
                 signature of the body as it is. Send the cursor of a response as `after` of the next request when its \
                 events are processed: they then count as delivered. Until then they are returned again, with the \
                 same webhook-id. The messages of a chat are in order. Messages that nobody fetches within three days \
                 have failed. Let one program at a time fetch the messages of a channel.",
            )
            .query::<EventsQuery>()
            .answers::<FetchedEvents>(200, "The oldest messages that are not acknowledged.")
            .answer_example(
                "message",
                None,
                json!({
                    "events": [{
                        "headers": {
                            "content-type": "application/json; charset=utf-8",
                            "webhook-id": "01a214d2-d7b1-7000-8000-04000000ab59",
                            "webhook-timestamp": "1795237200",
                            "webhook-signature": "v1,sWv8pAc9ZzJHwBMjqLy1IhyaGZtvgTk1mrzrGAn/lrI=",
                        },
                        "body": "{\"sender\":{\"id\":\"u-1\"},\"message\":{\"type\":\"text\",\"text\":\"Hi\"}}",
                    }],
                    "cursor": "17-4",
                }),
            )
            .fails(&[Failure::NotFound]),
        Operation::get(
            "/webhook/{secret}/{account_id}/{webhook_id}/events",
            "webhookEvents",
            "Fetches the events of a webhook",
        )
        .describe(
            "For a webhook with the target `pull`; the address is its `pull_url`. Each event has the headers and the body \
             that would be posted, also in the format CloudEvents and with an Ed25519 signature. Everything else is like \
             channelEvents. Nothing that the program answers reaches the agent; chat_assigned counts as done when it is \
             acknowledged.",
        )
        .query::<EventsQuery>()
        .answers::<FetchedEvents>(200, "The oldest events that are not acknowledged.")
        .answer_example(
            "event",
            None,
            json!({
                "events": [{
                    "headers": {
                        "content-type": "application/json; charset=utf-8",
                        "webhook-id": "01a214d2-d7b1-7000-8000-04000000ab59",
                        "webhook-timestamp": "1795237200",
                        "webhook-signature": "v1,sWv8pAc9ZzJHwBMjqLy1IhyaGZtvgTk1mrzrGAn/lrI=",
                    },
                    "body": "{\"event_name\":\"test\",\"widget_id\":\"\"}",
                }],
                "cursor": "17-4",
            }),
        )
        .fails(&[Failure::NotFound]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct EventsQuery {
    /// The cursor of the last response whose events are processed.
    #[serde(default)]
    after: NotNull<Text<MAX_CURSOR_CHARS>>,
    /// How many seconds to wait if there are no messages.
    #[serde(default)]
    #[schemars(extend("default" = 0))]
    wait: NotNull<Whole<0, MAX_WAIT_SECONDS>>,
    #[serde(default)]
    #[schemars(extend("default" = MAX_EVENTS))]
    limit: NotNull<Whole<1, MAX_EVENTS>>,
}

impl EventsQuery {
    pub fn after(&self) -> Result<FeedCursor, Error> {
        self.after.0.as_ref().map_or_else(|| Ok(FeedCursor::default()), |Text(text)| FeedCursor::parse(text))
    }

    pub fn wait(&self) -> Duration {
        Duration::from_secs(self.wait.0.map_or(0, |Whole(seconds)| seconds))
    }

    pub fn limit(&self) -> usize {
        let limit = self.limit.0.map_or(MAX_EVENTS, |Whole(limit)| limit);
        usize::try_from(limit).unwrap_or(usize::MAX)
    }
}

/// The positions of a page's messages, so that exactly these are acknowledged.
#[derive(Debug, Default)]
pub struct FeedCursor(pub Vec<DeliveryCursor>);

impl FeedCursor {
    fn parse(text: &str) -> Result<Self, Error> {
        let position = |part: &str| DeliveryCursor::parse(part).filter(|position| position.at.is_none());
        let positions: Option<Vec<DeliveryCursor>> = text.split(',').map(position).collect();
        let positions = positions.filter(|positions| positions.len() as u64 <= MAX_EVENTS);
        positions.map(Self).ok_or_else(|| Error::field("after", "is not a cursor of this endpoint"))
    }

    pub fn to_text(&self) -> String {
        self.0.iter().map(|position| position.to_text()).collect::<Vec<_>>().join(",")
    }

    pub fn contains(&self, chat_id: u64, seq: u64) -> bool {
        self.0.iter().any(|position| (position.chat_id, position.seq) == (chat_id, seq))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct FetchedEvents {
    #[schemars(length(max = MAX_EVENTS))]
    events: Vec<FetchedEvent>,
    /// Acknowledges the events when it is sent as `after`. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_CURSOR_CHARS))]
    cursor: Option<String>,
}

impl FetchedEvents {
    /// `cursor` contains the positions of the events.
    pub fn new(events: Vec<FetchedEvent>, cursor: &FeedCursor) -> Self {
        let cursor = (!events.is_empty()).then(|| cursor.to_text());
        Self { events, cursor }
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

#[derive(Serialize, JsonSchema)]
pub struct FetchedEvent {
    /// The headers of the request that would be posted, with names in lower case.
    headers: BTreeMap<String, String>,
    /// The body of that request.
    body: String,
}

impl FetchedEvent {
    pub fn new(headers: Vec<(&'static str, String)>, body: String) -> Self {
        let headers = headers.into_iter().filter(|(name, _)| *name != "transfer-encoding");
        Self { headers: headers.map(|(name, value)| (name.to_owned(), value)).collect(), body }
    }

    pub fn bytes(&self) -> usize {
        self.body.len()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn cursor_names_the_messages_of_its_page() {
        let page = FeedCursor([3, 5].map(|seq| DeliveryCursor { at: None, chat_id: 17, seq }).to_vec());
        let cursor = FeedCursor::parse(&page.to_text()).unwrap();
        assert_eq!(
            [(17, 3), (17, 4), (17, 5)].map(|(chat_id, seq)| cursor.contains(chat_id, seq)),
            [true, false, true]
        );
        for wrong in ["", ",", "17", "17-3-4", "17-x", "17-3,", &["1-1"; 51].join(",")] {
            assert!(FeedCursor::parse(wrong).is_err(), "{wrong}");
        }
    }
}
