//! The attributes of queues and messages. A request selects them by name.

use serde_json::{Map, Value, json};

use super::super::limits::MAX_MESSAGE_BYTES;
use super::super::{Error, Message, QueueDefinition, QueueDepth, Queues};

/// A request can select these attributes. The local SQS has no values for some of them, and some exist only in FIFO
/// queues.
const QUEUE_ATTRIBUTE_NAMES: [&str; 22] = [
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

/// A request can select these message system attributes.
const MESSAGE_ATTRIBUTE_NAMES: [&str; 10] = [
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

pub(super) fn check_queue_attribute_names(names: &[String]) -> Result<(), Error> {
    check_names(names, &QUEUE_ATTRIBUTE_NAMES)
}

pub(super) fn check_message_attribute_names(names: &[String]) -> Result<(), Error> {
    check_names(names, &MESSAGE_ATTRIBUTE_NAMES)
}

fn check_names(names: &[String], valid_names: &[&str]) -> Result<(), Error> {
    match names.iter().find(|name| !valid_names.contains(&name.as_str())) {
        Some(name) => Err(Error::InvalidAttributeName(name.clone())),
        None => Ok(()),
    }
}

/// Returns the attributes with the given names. The name `All` selects every attribute.
pub(super) fn select(mut all: Map<String, Value>, names: &[String]) -> Map<String, Value> {
    if !names.iter().any(|name| name == "All") {
        all.retain(|name, _| names.contains(name));
    }
    all
}

/// Returns all attributes of a queue. All values are strings, as in SQS.
pub(super) fn queue_attributes(queue: &QueueDefinition, depth: QueueDepth) -> Map<String, Value> {
    let mut all = Map::new();
    let mut insert = |name: &str, value: String| all.insert(name.to_owned(), value.into());
    insert("QueueArn", Queues::arn(&queue.name));
    insert("ApproximateNumberOfMessages", depth.visible.to_string());
    insert("ApproximateNumberOfMessagesNotVisible", depth.in_flight.to_string());
    insert("ApproximateNumberOfMessagesDelayed", depth.delayed.to_string());
    insert("DelaySeconds", queue.delay_seconds.to_string());
    insert("VisibilityTimeout", queue.visibility_timeout_seconds.to_string());
    insert("MessageRetentionPeriod", queue.retention_seconds.to_string());
    insert("MaximumMessageSize", MAX_MESSAGE_BYTES.to_string());
    insert("ReceiveMessageWaitTimeSeconds", "0".to_owned());
    if let Some(policy) = redrive_policy(queue) {
        insert("RedrivePolicy", policy);
    }
    if queue.is_fifo() {
        insert("FifoQueue", true.to_string());
        insert("ContentBasedDeduplication", queue.content_based_deduplication.to_string());
        insert("DeduplicationScope", deduplication_scope(queue).to_owned());
    }
    all
}

fn redrive_policy(queue: &QueueDefinition) -> Option<String> {
    let redrive_policy = queue.redrive_policy.as_ref()?;
    let policy = json!({
        "deadLetterTargetArn": Queues::arn(&redrive_policy.dead_letter_queue),
        "maxReceiveCount": redrive_policy.max_receive_count,
    });
    Some(policy.to_string())
}

fn deduplication_scope(queue: &QueueDefinition) -> &'static str {
    if queue.deduplication_per_group { "messageGroup" } else { "queue" }
}

pub(super) fn message_attributes(message: &Message, names: &[String]) -> Map<String, Value> {
    let mut all = Map::new();
    let mut insert = |name: &str, value: String| all.insert(name.to_owned(), value.into());
    insert("SenderId", "local".to_owned());
    insert("SentTimestamp", message.sent_at_ms.to_string());
    insert("ApproximateReceiveCount", message.receive_count.to_string());
    insert("ApproximateFirstReceiveTimestamp", message.first_received_at_ms.to_string());
    let optional = [
        ("MessageGroupId", &message.group),
        ("MessageDeduplicationId", &message.deduplication_id),
        ("SequenceNumber", &message.sequence_number),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            insert(name, value.clone());
        }
    }
    select(all, names)
}
