//! The body of a request to a webhook whose `format` is `cloudevents`: the event in the JSON format of CloudEvents 1.0
//! (structured content mode). `data` is the body that the webhook would otherwise get.

use serde::Serialize;
use serde_json::Value;

use crate::domain::timestamp::Timestamp;

pub(crate) const CONTENT_TYPE: &str = "application/cloudevents+json; charset=utf-8";
const TYPE_PREFIX: &str = "switchboard.";
const CHANNEL_SOURCE_PREFIX: &str = "urn:switchboard:channel:";
/// The source of the `test` event, which belongs to no channel.
const TEST_SOURCE: &str = "urn:switchboard:test";
/// The source of agent_status_changed, which belongs to no channel either.
const ACCOUNT_SOURCE: &str = "urn:switchboard:account";

#[derive(Serialize)]
pub(crate) struct CloudEvent<'a> {
    specversion: &'static str,
    id: &'a str,
    source: String,
    #[serde(rename = "type")]
    event_type: String,
    time: String,
    /// The number of the chat. offline_message and `test` have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    datacontenttype: &'static str,
    data: &'a Value,
}

impl<'a> CloudEvent<'a> {
    /// `id` is the `webhook-id`, `at` is when the event happened, and `data` is the body of the event.
    pub(crate) fn new(id: &'a str, at: Timestamp, data: &'a Value) -> Self {
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
        let source = match text("widget_id") {
            "" if text("event_name") == "test" => TEST_SOURCE.to_owned(),
            "" => ACCOUNT_SOURCE.to_owned(),
            channel_id => format!("{CHANNEL_SOURCE_PREFIX}{channel_id}"),
        };
        Self {
            specversion: "1.0",
            id,
            source,
            event_type: format!("{TYPE_PREFIX}{}", text("event_name")),
            time: at.rfc3339(),
            subject: data.get("chat_id").and_then(Value::as_u64).map(|chat_id| chat_id.to_string()),
            datacontenttype: "application/json",
            data,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn attributes_are_taken_from_the_event() {
        let data = json!({"event_name": "chat_finished", "chat_id": 17, "widget_id": "c1", "agents": []});
        let at = Timestamp(1_790_331_234_567);
        let expected = json!({
            "specversion": "1.0",
            "id": "m1",
            "source": "urn:switchboard:channel:c1",
            "type": "switchboard.chat_finished",
            "time": "2026-09-25T10:13:54.567Z",
            "subject": "17",
            "datacontenttype": "application/json",
            "data": data,
        });
        assert_eq!(json!(CloudEvent::new("m1", at, &data)), expected);
        let test = json!({"event_name": "test", "widget_id": ""});
        let event = json!(CloudEvent::new("m1", at, &test));
        assert_eq!((&event["source"], event.get("subject")), (&json!("urn:switchboard:test"), None));
    }
}
