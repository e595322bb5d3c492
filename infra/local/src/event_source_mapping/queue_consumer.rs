//! Receives batches of messages from a queue and invokes the function with them.
//!
//! Messages that the function processed successfully are deleted. Failed messages become visible again after their
//! visibility timeout, or move to the dead-letter queue.

use std::collections::{BTreeMap, HashSet};
use std::pin::pin;
use std::sync::Arc;

use axum::body::Bytes;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::batch_response::failed_items;
use super::read_retry::ReadRetry;
use crate::activity::{Activity, OngoingWork};
use crate::aws::arn::REGION;
use crate::faults::{Faults, MessageFault};
use crate::lambda::Functions;
use crate::log::LogSink;
use crate::sqs::{Error, Message, Queues};
use crate::template::QueueMapping;
use crate::usage::UsageMeter;

/// The maximum number of concurrent batches per queue if the template does not set `MaximumConcurrency`.
const DEFAULT_CONCURRENCY: u32 = 32;

pub(crate) struct QueueConsumer {
    pub function: String,
    pub mapping: QueueMapping,
    pub queues: Queues,
    pub functions: Functions,
    pub meter: UsageMeter,
    pub faults: Faults,
    pub activity: Activity,
    pub log: LogSink,
}

impl QueueConsumer {
    /// Processes batches until `stopping` resolves, then waits for the running invocations.
    pub async fn run(self, stopping: impl Future<Output = ()>) {
        let mut stopping = pin!(stopping);
        let concurrency = self.mapping.max_concurrency.unwrap_or(DEFAULT_CONCURRENCY);
        let slots = Arc::new(Semaphore::new(concurrency as usize));
        let consumer = Arc::new(self);
        let mut batches = JoinSet::new();
        loop {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            let batch = tokio::select! {
                () = &mut stopping => break,
                batch = consumer.next_batch() => batch,
            };
            let consumer = Arc::clone(&consumer);
            batches.spawn(async move {
                let (messages, _ongoing) = &batch;
                consumer.process(messages).await;
                drop(slot);
            });
            // Removes the finished batches, which have no results to read.
            while batches.try_join_next().is_some() {}
        }
        batches.join_all().await;
    }

    /// Waits until the queue has at least one message, then returns a batch. Logs errors and tries again.
    async fn next_batch(&self) -> (Vec<Message>, OngoingWork) {
        let mut retry = ReadRetry::default();
        loop {
            match self.receive().await {
                Ok(batch) => return batch,
                Err(error) => retry.wait(|| self.log_error("received from", &error)).await,
            }
        }
    }

    async fn receive(&self) -> Result<(Vec<Message>, OngoingWork), Error> {
        let QueueMapping { queue, batch_size, batching_window, .. } = &self.mapping;
        let (mut batch, ongoing) = self.queues.receive_as_work(queue, *batch_size, &self.activity).await?;
        let deadline = Instant::now() + *batching_window;
        while let Some(capacity @ 1..) = remaining_capacity(*batch_size, &batch) {
            match timeout_at(deadline, self.queues.receive(queue, capacity)).await {
                Ok(more) => batch.extend(more?),
                Err(_) => break,
            }
        }
        self.meter.count_sqs_request(&self.function, queue, "ReceiveMessage");
        Ok((batch, ongoing))
    }

    async fn process(&self, batch: &[Message]) {
        let queue = &self.mapping.queue;
        let fault = self.faults.of_messages(queue.ends_with(".fifo"));
        match fault {
            Some(MessageFault::EarlyVisibility { seconds }) => self.make_visible_in(batch, seconds),
            Some(MessageFault::Delay(delay)) => tokio::time::sleep(delay).await,
            Some(MessageFault::Repeat) | None => {}
        }
        let event = Bytes::from(event(queue, batch).to_string());
        // The failure is already logged. The messages become visible again after their visibility timeout.
        let Ok(result) = self.functions.invoke(&self.function, event).await else {
            return;
        };
        let processed = processed_messages(&self.mapping, batch, &result);
        if processed.is_empty() {
            return;
        }
        if fault == Some(MessageFault::Repeat) {
            return self.make_visible_in(batch, 0);
        }
        self.meter.count_sqs_request(&self.function, queue, "DeleteMessageBatch");
        for message in processed {
            // An expired receipt handle is ignored, as on AWS, because the message is visible again and will be
            // received again.
            if let Err(error @ Error::Storage(_)) = self.queues.delete(queue, &message.receipt_handle) {
                // The remaining messages would fail in the same way.
                return self.log_error("deleted from", &error);
            }
        }
    }

    fn make_visible_in(&self, batch: &[Message], seconds: u32) {
        for message in batch {
            // An error is ignored: the message is already visible, or keeps its visibility timeout.
            let _ = self.queues.change_visibility(&self.mapping.queue, &message.receipt_handle, seconds);
        }
    }

    fn log_error(&self, action: &str, error: &Error) {
        let line = format!("messages cannot be {action} {}: {error}", self.mapping.queue);
        self.log.line(&self.function, &line);
    }
}

/// Returns the messages to delete from the queue.
fn processed_messages<'b>(mapping: &QueueMapping, batch: &'b [Message], result: &[u8]) -> Vec<&'b Message> {
    if !mapping.reports_partial_failures {
        return batch.iter().collect();
    }
    let is_in_batch = |id: &str| batch.iter().any(|message| message.message_id == id);
    let Some(failed_ids) = failed_items(result, is_in_batch) else {
        return Vec::new();
    };
    let is_fifo = mapping.queue.ends_with(".fifo");
    let mut failed_groups = HashSet::new();
    let mut processed = Vec::new();
    for message in batch {
        let has_failed = failed_ids.contains(&message.message_id);
        if has_failed && is_fifo {
            // Later messages in the group must not overtake the failed one.
            failed_groups.insert(&message.group);
        }
        if !has_failed && !failed_groups.contains(&message.group) {
            processed.push(message);
        }
    }
    processed
}

/// Returns how many more messages the batch can contain, or `None` if the batch length does not fit into a `u32`.
fn remaining_capacity(batch_size: u32, batch: &[Message]) -> Option<u32> {
    u32::try_from(batch.len()).ok().map(|size| batch_size.saturating_sub(size))
}

fn event(queue: &str, batch: &[Message]) -> Value {
    let records: Vec<_> = batch.iter().map(|message| record(queue, message)).collect();
    json!({"Records": records})
}

fn record(queue: &str, message: &Message) -> Value {
    json!({
        "messageId": message.message_id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": attributes(message),
        "messageAttributes": {},
        "md5OfBody": message.md5_of_body,
        "eventSource": "aws:sqs",
        "eventSourceARN": Queues::arn(queue),
        "awsRegion": REGION,
    })
}

/// Returns a message's system attributes. All values are strings, as on AWS. Some attributes exist only in FIFO queues.
fn attributes(message: &Message) -> BTreeMap<&'static str, String> {
    let required = [
        ("ApproximateReceiveCount", message.receive_count.to_string()),
        ("SentTimestamp", message.sent_at_ms.to_string()),
        ("SenderId", "AIDALOCAL".to_owned()),
        ("ApproximateFirstReceiveTimestamp", message.first_received_at_ms.to_string()),
    ];
    let optional = [
        ("MessageGroupId", &message.group),
        ("MessageDeduplicationId", &message.deduplication_id),
        ("SequenceNumber", &message.sequence_number),
    ];
    let optional = optional.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
    required.into_iter().chain(optional).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use std::time::Duration;

    use super::*;

    fn mapping(queue: &str, reports_partial_failures: bool) -> QueueMapping {
        QueueMapping {
            queue: queue.to_owned(),
            batch_size: 10,
            batching_window: Duration::ZERO,
            reports_partial_failures,
            max_concurrency: None,
        }
    }

    fn batch(messages: &[(&str, &str)]) -> Vec<Message> {
        let message = |(id, group): &(&str, &str)| Message {
            message_id: (*id).to_owned(),
            receipt_handle: format!("receipt {id}"),
            body: format!("body {id}"),
            md5_of_body: "md5".to_owned(),
            sent_at_ms: 1,
            first_received_at_ms: 2,
            receive_count: 3,
            group: Some((*group).to_owned()),
            deduplication_id: None,
            sequence_number: None,
        };
        messages.iter().map(message).collect()
    }

    #[test]
    fn processed_messages_follow_the_batch_response() {
        let messages = batch(&[("1", "a"), ("2", "a"), ("3", "b"), ("4", "a")]);
        let two = r#"{"batchItemFailures":[{"itemIdentifier":"2"}]}"#;
        for (queue, partial, result, expected) in [
            ("Q", false, two, "1234"),
            ("Q", true, two, "134"),
            ("Q.fifo", true, two, "13"),
            ("Q", true, "", "1234"),
            ("Q", true, "null", "1234"),
            ("Q", true, "{}", "1234"),
            ("Q", true, r#"{"batchItemFailures":null}"#, "1234"),
            ("Q", true, r#"{"batchItemFailures":[]}"#, "1234"),
            ("Q", true, r#"{"batchItemFailures":[{"itemIdentifier":""}]}"#, ""),
            ("Q", true, r#"{"batchItemFailures":[{"itemIdentifier":null}]}"#, ""),
            ("Q", true, r#"{"batchItemFailures":[{"itemIdentifier":"9"}]}"#, ""),
            ("Q", true, r#"{"batchItemFailures":[{"id":"2"}]}"#, ""),
            ("Q", true, r#""ok""#, ""),
        ] {
            let processed = processed_messages(&mapping(queue, partial), &messages, result.as_bytes());
            let ids: String = processed.iter().map(|message| message.message_id.as_str()).collect();
            assert_eq!(ids, expected, "{queue} {partial} {result}");
        }
    }

    #[test]
    fn record_has_the_format_of_aws() {
        let record = &event("Q.fifo", &batch(&[("1", "a")]))["Records"][0];
        let expected = json!({
            "messageId": "1",
            "receiptHandle": "receipt 1",
            "body": "body 1",
            "attributes": {
                "ApproximateReceiveCount": "3",
                "SentTimestamp": "1",
                "SenderId": "AIDALOCAL",
                "ApproximateFirstReceiveTimestamp": "2",
                "MessageGroupId": "a",
            },
            "messageAttributes": {},
            "md5OfBody": "md5",
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:Q.fifo",
            "awsRegion": "us-east-1",
        });
        assert_eq!(*record, expected);
    }
}
