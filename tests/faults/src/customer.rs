//! A customer's queue and event bus in AWS, to which webhooks send events. The local host emulates both, and keeps what
//! arrives in a file, which also contains what arrived before it was killed.

use std::path::Path;

use local::random_and_digest::random_hex;
use serde_json::{Value, json};

use crate::client::ApiClient;
use crate::receiver::{JournalEntry, Mood};
use crate::records::Records;

pub const JOURNAL_FILE: &str = "customer-aws.jsonl";

pub struct Customer {
    role_arn: String,
    queue_url: String,
    event_bus_arn: String,
}

impl Customer {
    pub fn new() -> Self {
        let name = format!("customer-{}", random_hex::<8>().unwrap());
        Self {
            role_arn: format!("arn:aws:iam::123456789012:role/{name}"),
            queue_url: format!("https://sqs.eu-central-1.amazonaws.com/123456789012/{name}.fifo"),
            event_bus_arn: format!("arn:aws:events:eu-central-1:123456789012:event-bus/{name}"),
        }
    }

    pub async fn trust(&self, host: &ApiClient, external_id: &Value) {
        let policy = json!({"role_arn": self.role_arn, "external_id": external_id});
        host.must_post("/_local/customer-aws/roles", &policy).await;
    }

    pub fn queue_webhook(&self) -> Value {
        json!({"target": "sqs", "url": self.queue_url, "role_arn": self.role_arn})
    }

    pub fn event_bus_webhook(&self) -> Value {
        let (url, role_arn) = (&self.event_bus_arn, &self.role_arn);
        json!({"target": "eventbridge", "url": url, "role_arn": role_arn, "format": "cloudevents"})
    }

    /// Returns what the queue and the event bus have received, in this order.
    pub fn journals(&self, file: &Path, records: &Records) -> [Vec<JournalEntry>; 2] {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let of_address = |field: &str, address: &str| {
            let received = lines.iter().map(|line| &line["received"]);
            let received = received.filter(|line| line["received"][field] == address);
            received.map(|line| journal_entry(line, records)).collect()
        };
        [of_address("queue_url", &self.queue_url), of_address("event_bus", &self.event_bus_arn)]
    }
}

/// The customer's AWS processes what it receives, but its response may be lost.
fn journal_entry(line: &Value, records: &Records) -> JournalEntry {
    let (received, at_ms) = (&line["received"], line["at_ms"].as_u64().unwrap_or_default());
    let (webhook_id, body) = match received.get("detail") {
        Some(event) => (&event["id"], &event["data"]),
        None => (&received["attributes"]["webhook-id"], &received["body"]),
    };
    JournalEntry {
        at_ms: records.ms_since_start(at_ms),
        webhook_id: webhook_id.as_str().unwrap_or_default().to_owned(),
        body: body.clone(),
        mood: Mood::Accept,
        acknowledged_ms: None,
    }
}
