//! Plays Lambda's event source mappings: takes batches from a queue to a function.
//!
//! A message is deleted when the function is done with it. What failed stays in the queue and comes back
//! after its visibility time-out, or goes to the dead-letter queue.

use std::collections::{BTreeMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::identity::REGION;
use crate::lambda::Functions;
use crate::log::LogSink;
use crate::sqs::{Error, Message, Queues};
use crate::template::QueueMapping;
use crate::usage::Meter;

/// Batches of a queue in its function at once when the template does not say how many.
const DEFAULT_CONCURRENCY: u32 = 32;

/// Pause after the queue failed, so that a broken disk does not also heat the processor.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// How often a failure that lasts is said.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// A queue, its function, and what lies between.
pub(crate) struct Mapping {
    pub function: String,
    pub mapping: QueueMapping,
    pub queues: Queues,
    pub functions: Functions,
    pub meter: Meter,
    pub log: LogSink,
}

impl Mapping {
    /// Takes batches until told to stop, then waits for those on their way.
    pub async fn run(self, stopping: impl Future<Output = ()>) {
        let mut stopping = pin!(stopping);
        let concurrency = self.mapping.max_concurrency.unwrap_or(DEFAULT_CONCURRENCY);
        let slots = Arc::new(Semaphore::new(concurrency as usize));
        let mapping = Arc::new(self);
        let mut batches = JoinSet::new();
        loop {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            let batch = tokio::select! {
                () = &mut stopping => break,
                batch = mapping.batch() => batch,
            };
            let mapping = Arc::clone(&mapping);
            batches.spawn(async move {
                mapping.process(&batch).await;
                drop(slot);
            });
            // Forget the finished ones.
            while batches.try_join_next().is_some() {}
        }
        batches.join_all().await;
    }

    /// Waits for at least one message.
    async fn batch(&self) -> Vec<Message> {
        let mut said: Option<Instant> = None;
        loop {
            let error = match self.receive().await {
                Ok(batch) => return batch,
                Err(error) => error,
            };
            if said.is_none_or(|said| said.elapsed() >= LOG_INTERVAL) {
                self.complain("taken from", &error);
                said = Some(Instant::now());
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    async fn receive(&self) -> Result<Vec<Message>, Error> {
        let QueueMapping { queue, batch_size, window, .. } = &self.mapping;
        let mut batch = self.queues.receive(queue, *batch_size).await?;
        let until = Instant::now() + *window;
        while let Some(missing @ 1..) = missing(*batch_size, &batch) {
            match timeout_at(until, self.queues.receive(queue, missing)).await {
                Ok(more) => batch.extend(more?),
                Err(_) => break,
            }
        }
        self.meter.sqs(&self.function, queue, "ReceiveMessage");
        Ok(batch)
    }

    async fn process(&self, batch: &[Message]) {
        let queue = &self.mapping.queue;
        let event = Bytes::from(event(queue, batch).to_string());
        // The pool logs the failure; the messages come back by themselves.
        let Ok(result) = self.functions.invoke(&self.function, event).await else {
            return;
        };
        let done = done(&self.mapping, batch, &result);
        if done.is_empty() {
            return;
        }
        self.meter.sqs(&self.function, queue, "DeleteMessageBatch");
        for message in done {
            // A message that became visible again meanwhile is someone else's now, as on AWS.
            if let Err(error @ Error::Storage(_)) = self.queues.delete(queue, &message.receipt_handle) {
                // The others would fail in the same way.
                return self.complain("deleted from", &error);
            }
        }
    }

    fn complain(&self, what: &str, error: &Error) {
        let line = format!("messages cannot be {what} {}: {error}", self.mapping.queue);
        self.log.line(&self.function, &line);
    }
}

/// The messages that need not come back.
fn done<'b>(mapping: &QueueMapping, batch: &'b [Message], result: &[u8]) -> Vec<&'b Message> {
    if !mapping.partial_failures {
        return batch.iter().collect();
    }
    let Some(failed) = failures(batch, result) else {
        return Vec::new();
    };
    let is_fifo = mapping.queue.ends_with(".fifo");
    let mut stuck = HashSet::new();
    let mut done = Vec::new();
    for message in batch {
        let failed = failed.contains(&message.message_id);
        if failed && is_fifo {
            // What comes after a failure in its group must not overtake it.
            stuck.insert(&message.group);
        }
        if !failed && !stuck.contains(&message.group) {
            done.push(message);
        }
    }
    done
}

/// How many messages the batch could still take.
fn missing(batch_size: u32, batch: &[Message]) -> Option<u32> {
    u32::try_from(batch.len()).ok().map(|size| batch_size.saturating_sub(size))
}

/// The function's report about a batch.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Report {
    #[serde(default)]
    batch_item_failures: Option<Vec<ItemFailure>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemFailure {
    item_identifier: String,
}

/// The ids that the function reports; `None` when the report makes no sense, which fails the whole batch.
fn failures(batch: &[Message], result: &[u8]) -> Option<HashSet<String>> {
    // Nothing, or null, is a report without failures.
    let report = match result.trim_ascii() {
        b"" | b"null" => Report::default(),
        result => serde_json::from_slice(result).ok()?,
    };
    let failed = report.batch_item_failures.unwrap_or_default();
    let failed: HashSet<_> = failed.into_iter().map(|failure| failure.item_identifier).collect();
    let known = |id: &String| batch.iter().any(|message| message.message_id == *id);
    failed.iter().all(known).then_some(failed)
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

/// As on AWS, all of them are text, and only FIFO queues have them all.
fn attributes(message: &Message) -> BTreeMap<&'static str, String> {
    let always = [
        ("ApproximateReceiveCount", message.receive_count.to_string()),
        ("SentTimestamp", message.sent_at_ms.to_string()),
        ("SenderId", "AIDALOCAL".to_owned()),
        ("ApproximateFirstReceiveTimestamp", message.first_received_at_ms.to_string()),
    ];
    let sometimes = [
        ("MessageGroupId", &message.group),
        ("MessageDeduplicationId", &message.deduplication_id),
        ("SequenceNumber", &message.sequence_number),
    ];
    let sometimes = sometimes.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
    always.into_iter().chain(sometimes).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;

    fn mapping(queue: &str, partial_failures: bool) -> QueueMapping {
        QueueMapping {
            queue: queue.to_owned(),
            batch_size: 10,
            window: Duration::ZERO,
            partial_failures,
            max_concurrency: None,
        }
    }

    /// Messages by id and group.
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
    fn what_is_done_follows_the_report() {
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
            let done = done(&mapping(queue, partial), &messages, result.as_bytes());
            let ids: String = done.iter().map(|message| message.message_id.as_str()).collect();
            assert_eq!(ids, expected, "{queue} {partial} {result}");
        }
    }

    #[test]
    fn a_record_is_that_of_aws() {
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
