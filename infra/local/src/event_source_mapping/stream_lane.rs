//! Invokes a function with the records of one lane, in order and one batch at a time. A failed batch is retried until
//! it succeeds or is dropped, and the records after it wait.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, timeout_at};

use super::batch_response::failed_items;
use super::dropped_records::DroppedRecordsLog;
use crate::activity::OngoingWork;
use crate::dynamo::StreamRecord;
use crate::lambda::Functions;
use crate::template::StreamMapping;

/// The pause before the first retry of a batch. Each further pause is twice as long as the previous one, up to
/// `MAX_RETRY_DELAY`.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(100);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// A record, and the work of processing it.
pub(super) type LaneRecord = (StreamRecord, OngoingWork);

pub(super) struct StreamLane {
    pub function: String,
    pub mapping: StreamMapping,
    pub functions: Functions,
    pub dropped: Arc<DroppedRecordsLog>,
}

#[derive(Debug, Default)]
struct Batch {
    records: Vec<StreamRecord>,
    /// How many times this batch has been retried. Both halves of a split batch keep the count. If the function
    /// processes only the first records of a batch, the count starts at 0 again for the remaining ones.
    retries: u32,
}

#[derive(Debug)]
enum NextStep {
    Split([Batch; 2]),
    Retry(Batch, Duration),
    Drop(Batch),
}

impl StreamLane {
    /// Processes records until the channel is closed and empty.
    pub async fn run(self, mut records: UnboundedReceiver<LaneRecord>) {
        loop {
            let (batch, _ongoing): (Vec<_>, Vec<_>) = self.next_batch(&mut records).await.into_iter().unzip();
            if batch.is_empty() {
                return;
            }
            self.process(batch).await;
        }
    }

    /// Waits until there is a record, then collects records until the batch is full or the batching window ends.
    /// Returns an empty batch if the channel is closed and has no more records.
    async fn next_batch(&self, records: &mut UnboundedReceiver<LaneRecord>) -> Vec<LaneRecord> {
        let StreamMapping { batch_size, batching_window, .. } = self.mapping;
        let mut batch = Vec::new();
        let mut is_open = records.recv_many(&mut batch, batch_size).await > 0;
        let deadline = Instant::now() + batching_window;
        while is_open && batch.len() < batch_size {
            let capacity = batch_size - batch.len();
            match timeout_at(deadline, records.recv_many(&mut batch, capacity)).await {
                Ok(count) => is_open = count > 0,
                Err(_) => break,
            }
        }
        batch
    }

    async fn process(&self, records: Vec<StreamRecord>) {
        // The next batch is the last one in this list.
        let mut batches = vec![Batch { records, retries: 0 }];
        while let Some(mut batch) = batches.pop() {
            let dropped = batch.remove_old_records(self.mapping.max_record_age);
            self.dropped.add(dropped, "the latest ones were too old");
            batch = self.invoke(batch).await;
            if batch.records.is_empty() {
                continue;
            }
            match batch.next_step(&self.mapping) {
                NextStep::Split([first, second]) => batches.extend([second, first]),
                NextStep::Retry(batch, delay) => {
                    tokio::time::sleep(delay).await;
                    batches.push(batch);
                }
                NextStep::Drop(batch) => {
                    self.dropped.add(batch.records.len(), "the function failed on the latest ones");
                }
            }
        }
    }

    /// Invokes the function and returns the records that it has not processed.
    async fn invoke(&self, batch: Batch) -> Batch {
        if batch.records.is_empty() {
            return batch;
        }
        let events: Vec<_> = batch.records.iter().map(|record| &record.event).collect();
        let event = Bytes::from(json!({"Records": events}).to_string());
        // A failure is already logged.
        match self.functions.invoke(&self.function, event).await {
            Ok(_) if !self.mapping.reports_partial_failures => Batch::default(),
            Ok(result) => batch.after_response(&result),
            Err(_) => batch,
        }
    }
}

impl Batch {
    /// Removes records that were read longer than `max_age` ago, and returns their number.
    fn remove_old_records(&mut self, max_age: Duration) -> usize {
        let count = self.records.len();
        self.records.retain(|record| record.read_at.elapsed() <= max_age);
        count - self.records.len()
    }

    /// Returns the records beginning with the first one that the function reported as failed, or all records if the
    /// response is invalid.
    fn after_response(mut self, result: &[u8]) -> Self {
        let position = |id: &str| self.records.iter().position(|record| record.sequence_number == id);
        let Some(failed) = failed_items(result, |id| position(id).is_some()) else {
            return self;
        };
        match failed.iter().filter_map(|id| position(id)).min() {
            None => Self::default(),
            Some(0) => self,
            Some(first) => Self { records: self.records.split_off(first), retries: 0 },
        }
    }

    /// Returns what happens to a failed batch. As on AWS, splitting a batch does not count as a retry.
    fn next_step(mut self, mapping: &StreamMapping) -> NextStep {
        let retries = self.retries;
        if mapping.bisects_failed_batches && self.records.len() > 1 {
            let second = self.records.split_off(self.records.len() / 2);
            return NextStep::Split([self, Self { records: second, retries }]);
        }
        if mapping.max_retries.is_some_and(|max_retries| retries >= max_retries) {
            return NextStep::Drop(self);
        }
        let delay = 2_u32.checked_pow(retries).map(|factor| FIRST_RETRY_DELAY.saturating_mul(factor));
        let delay = delay.unwrap_or(MAX_RETRY_DELAY).min(MAX_RETRY_DELAY);
        NextStep::Retry(Self { retries: retries + 1, ..self }, delay)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;

    fn batch(sequence_numbers: &str, retries: u32) -> Batch {
        let record = |number: char| StreamRecord {
            sequence_number: number.to_string(),
            partition_key: String::new(),
            read_at: Instant::now(),
            event: Value::Null,
        };
        Batch { records: sequence_numbers.chars().map(record).collect(), retries }
    }

    fn sequence_numbers(batch: &Batch) -> String {
        batch.records.iter().map(|record| record.sequence_number.as_str()).collect()
    }

    fn mapping(bisects_failed_batches: bool, max_retries: Option<u32>) -> StreamMapping {
        StreamMapping {
            table: "Items".to_owned(),
            batch_size: 10,
            batching_window: Duration::ZERO,
            lanes: 1,
            max_record_age: Duration::from_mins(1),
            max_retries,
            bisects_failed_batches,
            reports_partial_failures: true,
            filters: Vec::new(),
        }
    }

    #[test]
    fn records_from_the_first_failed_one_remain() {
        for (response, remaining) in [
            ("", ""),
            ("null", ""),
            (r#"{"batchItemFailures": []}"#, ""),
            (r#"{"batchItemFailures": [{"itemIdentifier": "3"}, {"itemIdentifier": "2"}]}"#, "23"),
            (r#"{"batchItemFailures": [{"itemIdentifier": "1"}]}"#, "123"),
            (r#"{"batchItemFailures": [{"itemIdentifier": "3"}, {"itemIdentifier": "9"}]}"#, "123"),
            (r#"{"batchItemFailures": [{"itemIdentifier": ""}]}"#, "123"),
            (r#""ok""#, "123"),
        ] {
            let batch = batch("123", 1).after_response(response.as_bytes());
            assert_eq!(sequence_numbers(&batch), remaining, "{response}");
        }
    }

    #[test]
    fn old_records_are_removed() {
        let mut batch = batch("123", 0);
        batch.records.first_mut().unwrap().read_at = Instant::now() - Duration::from_secs(61);
        assert_eq!(batch.remove_old_records(Duration::from_mins(1)), 1);
        assert_eq!(sequence_numbers(&batch), "23");
    }

    #[test]
    fn failed_batch_is_split_retried_or_dropped() {
        let next = |batch: Batch, mapping: &StreamMapping| match batch.next_step(mapping) {
            NextStep::Split([first, second]) => {
                format!("{} and {}", sequence_numbers(&first), sequence_numbers(&second))
            }
            NextStep::Retry(batch, delay) => format!("{} after {delay:?}", sequence_numbers(&batch)),
            NextStep::Drop(batch) => format!("without {}", sequence_numbers(&batch)),
        };
        for (records, retries, bisects, max_retries, expected) in [
            ("123", 0, true, Some(2), "1 and 23"),
            ("123", 2, true, Some(2), "1 and 23"),
            ("1", 1, true, Some(2), "1 after 200ms"),
            ("1", 2, true, Some(2), "without 1"),
            ("123", 0, false, Some(2), "123 after 100ms"),
            ("123", 2, false, Some(2), "without 123"),
            ("123", 0, false, Some(0), "without 123"),
            ("123", 5, false, None, "123 after 3.2s"),
            ("123", 40, false, None, "123 after 10s"),
        ] {
            let batch = batch(records, retries);
            assert_eq!(next(batch, &mapping(bisects, max_retries)), expected, "{records} {retries}");
        }
    }
}
