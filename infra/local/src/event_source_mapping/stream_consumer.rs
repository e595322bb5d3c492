//! Reads a table's stream and distributes its records to lanes. A lane has one invocation at a time. The records of one
//! partition key are always in the same lane, so they stay in order.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::dropped_records::DroppedRecordsLog;
use super::read_retry::ReadRetry;
use super::stream_lane::{LaneRecord, StreamLane};
use crate::activity::Activity;
use crate::dynamo::{self, StreamReader, StreamRecord};
use crate::lambda::Functions;
use crate::log::LogSink;
use crate::template::StreamMapping;

pub(crate) struct StreamConsumer {
    pub function: String,
    pub mapping: StreamMapping,
    pub reader: StreamReader,
    pub functions: Functions,
    pub activity: Activity,
    pub log: LogSink,
}

impl StreamConsumer {
    /// Processes records until `stopping` resolves, then waits until the lanes are empty.
    pub async fn run(mut self, stopping: impl Future<Output = ()>) {
        let mut stopping = pin!(stopping);
        let mut lanes = JoinSet::new();
        let senders = self.start_lanes(&mut lanes);
        loop {
            let records = tokio::select! {
                () = &mut stopping => break,
                records = self.next_records() => records,
            };
            let selected = records.into_iter().filter(|record| self.mapping.selects(&record.event));
            selected.for_each(|record| send_to_lane(&senders, (record, self.activity.start())));
        }
        drop(senders);
        lanes.join_all().await;
    }

    fn start_lanes(&self, lanes: &mut JoinSet<()>) -> Vec<UnboundedSender<LaneRecord>> {
        let dropped = Arc::new(DroppedRecordsLog::new(&self.function, &self.mapping.table, self.log.clone()));
        let start = |_| {
            let (sender, records) = unbounded_channel();
            let lane = StreamLane {
                function: self.function.clone(),
                mapping: self.mapping.clone(),
                functions: self.functions.clone(),
                dropped: Arc::clone(&dropped),
            };
            lanes.spawn(lane.run(records));
            sender
        };
        (0..self.mapping.lanes).map(start).collect()
    }

    /// Waits for changes of the table. Logs errors and tries again.
    async fn next_records(&mut self) -> Vec<StreamRecord> {
        let mut retry = ReadRetry::default();
        loop {
            match self.reader.next().await {
                Ok(records) => return records,
                Err(error) => retry.wait(|| self.log_error(&error)).await,
            }
        }
    }

    fn log_error(&self, error: &dynamo::Error) {
        let line = format!("the stream of {} cannot be read: {error}", self.mapping.table);
        self.log.line(&self.function, &line);
    }
}

fn send_to_lane(lanes: &[UnboundedSender<LaneRecord>], record: LaneRecord) {
    let mut hasher = DefaultHasher::new();
    record.0.partition_key.hash(&mut hasher);
    let lane = usize::try_from(hasher.finish() % lanes.len() as u64).ok().and_then(|lane| lanes.get(lane));
    if let Some(lane) = lane {
        // This fails only if the lane has panicked.
        let _ = lane.send(record);
    }
}
