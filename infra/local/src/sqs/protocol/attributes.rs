//! Attributes of queues and messages, which callers ask for by name.

use serde_json::{Map, Value, json};

use super::super::limits::MAX_MESSAGE_BYTES;
use super::super::{Depth, Error, Message, QueueDefinition, Queues};

/// What a queue may be asked for, though some is not kept here (and some only FIFO queues have).
const OF_QUEUES: [&str; 22] = [
    "All",
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "ContentBasedDeduplication",
    "CreatedTimestamp",
    "DeduplicationScope",
    "DelaySeconds",
    "FifoQueue",
    "FifoThroughputLimit",
    "KmsDataKeyReusePeriodSeconds",
    "KmsMasterKeyId",
    "LastModifiedTimestamp",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "Policy",
    "QueueArn",
    "ReceiveMessageWaitTimeSeconds",
    "RedriveAllowPolicy",
    "RedrivePolicy",
    "SqsManagedSseEnabled",
    "VisibilityTimeout",
];

/// What a message may be asked for.
const OF_MESSAGES: [&str; 10] = [
    "All",
    "AWSTraceHeader",
    "ApproximateFirstReceiveTimestamp",
    "ApproximateReceiveCount",
    "DeadLetterQueueSourceArn",
    "MessageDeduplicationId",
    "MessageGroupId",
    "SenderId",
    "SentTimestamp",
    "SequenceNumber",
];

pub(super) fn check_queue_names(names: &[String]) -> Result<(), Error> {
    check(names, &OF_QUEUES)
}

pub(super) fn check_message_names(names: &[String]) -> Result<(), Error> {
    check(names, &OF_MESSAGES)
}

fn check(names: &[String], known: &[&str]) -> Result<(), Error> {
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Error::InvalidAttributeName(name.clone())),
        None => Ok(()),
    }
}

/// Those of the attributes that were asked for.
pub(super) fn named(mut all: Map<String, Value>, names: &[String]) -> Map<String, Value> {
    if !names.iter().any(|name| name == "All") {
        all.retain(|name, _| names.contains(name));
    }
    all
}

/// Everything there is to say about a queue. All values are strings, as in SQS.
pub(super) fn of_queue(queue: &QueueDefinition, depth: Depth) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, value: String| all.insert(name.to_owned(), value.into());
    put("QueueArn", Queues::arn(&queue.name));
    put("ApproximateNumberOfMessages", depth.visible.to_string());
    put("ApproximateNumberOfMessagesNotVisible", depth.in_flight.to_string());
    put("ApproximateNumberOfMessagesDelayed", depth.delayed.to_string());
    put("DelaySeconds", queue.delay_seconds.to_string());
    put("VisibilityTimeout", queue.visibility_seconds.to_string());
    put("MessageRetentionPeriod", queue.retention_seconds.to_string());
    put("MaximumMessageSize", MAX_MESSAGE_BYTES.to_string());
    put("ReceiveMessageWaitTimeSeconds", "0".to_owned());
    if let Some(policy) = redrive_policy(queue) {
        put("RedrivePolicy", policy);
    }
    if queue.is_fifo() {
        put("FifoQueue", true.to_string());
        put("ContentBasedDeduplication", queue.content_based_deduplication.to_string());
        put("DeduplicationScope", deduplication_scope(queue).to_owned());
    }
    all
}

fn redrive_policy(queue: &QueueDefinition) -> Option<String> {
    let dead_letter = queue.dead_letter.as_ref()?;
    let policy = json!({
        "deadLetterTargetArn": Queues::arn(&dead_letter.queue),
        "maxReceiveCount": dead_letter.max_receives,
    });
    Some(policy.to_string())
}

fn deduplication_scope(queue: &QueueDefinition) -> &'static str {
    if queue.deduplication_per_group { "messageGroup" } else { "queue" }
}

/// The system attributes of a message that were asked for.
pub(super) fn of_message(message: &Message, names: &[String]) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, value: String| all.insert(name.to_owned(), value.into());
    put("SenderId", "local".to_owned());
    put("SentTimestamp", message.sent_at_ms.to_string());
    put("ApproximateReceiveCount", message.receive_count.to_string());
    put("ApproximateFirstReceiveTimestamp", message.first_received_at_ms.to_string());
    let optional = [
        ("MessageGroupId", &message.group),
        ("MessageDeduplicationId", &message.deduplication_id),
        ("SequenceNumber", &message.sequence_number),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            put(name, value.clone());
        }
    }
    named(all, names)
}
