//! Functions that queues and schedules start. The messages of a batch are handled concurrently, those of one group of a
//! FIFO queue one after the other. What fails, panics or cannot be read is reported by itself: it comes again when its
//! visibility time-out ends, and goes to the dead-letter queue after the fifth time.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::Arc;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;

use crate::error::Error;
use crate::runtime::dependencies::{self, Dependency};
use crate::wire::task::Task;

type TaskHandler = Arc<dyn Fn(Task) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;
type Job = Arc<dyn Fn() -> BoxFuture<'static, Result<Value, Error>> + Send + Sync>;

/// Runs a queue's consumer. The handler is boxed for the reason given at [`crate::runtime::http::run`].
pub async fn run<R, H, F>(handle: H) -> ExitCode
where
    R: Dependency,
    H: Fn(R, Task) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    match start::<R>().await {
        Ok(resources) => consume(Arc::new(move |task| Box::pin(handle(resources.clone(), task)))).await,
        Err(code) => code,
    }
}

/// Runs a function that the schedule starts; what it returns is its report.
pub async fn run_scheduled<R, H, F>(handle: H) -> ExitCode
where
    R: Dependency,
    H: Fn(R) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Value, Error>> + Send + 'static,
{
    match start::<R>().await {
        Ok(resources) => repeat(Arc::new(move || Box::pin(handle(resources.clone())))).await,
        Err(code) => code,
    }
}

async fn start<R: Dependency>() -> Result<R, ExitCode> {
    crate::runtime::log::start();
    dependencies::open::<R>().await.map_err(|missing| {
        tracing::error!("{missing}");
        ExitCode::FAILURE
    })
}

async fn consume(handler: TaskHandler) -> ExitCode {
    let batch = service_fn(move |event: LambdaEvent<SqsEvent>| {
        let handler = Arc::clone(&handler);
        async move { Ok::<_, lambda_runtime::Error>(all(handler, event.payload.records).await) }
    });
    ended(lambda_runtime::run(batch).await)
}

async fn all(handler: TaskHandler, messages: Vec<SqsMessage>) -> SqsBatchResponse {
    let failed = join_all(lanes(messages).into_iter().map(|lane| in_order(&handler, lane))).await;
    let mut response = SqsBatchResponse::default();
    response.batch_item_failures = failed.into_iter().flatten().collect();
    response
}

/// The messages of a batch, those of one group of a FIFO queue together. On a standard queue a group means no order.
fn lanes(messages: Vec<SqsMessage>) -> Vec<Vec<SqsMessage>> {
    let (mut lanes, mut by_group) = (Vec::<Vec<SqsMessage>>::new(), HashMap::new());
    for message in messages {
        let is_fifo = message.event_source_arn.as_ref().is_some_and(|queue| queue.ends_with(".fifo"));
        let group = message.attributes.get("MessageGroupId").filter(|_| is_fifo).cloned();
        let lane = group.map_or(lanes.len(), |group| *by_group.entry(group).or_insert(lanes.len()));
        match lanes.get_mut(lane) {
            Some(lane) => lane.push(message),
            None => lanes.push(vec![message]),
        }
    }
    lanes
}

/// Handles messages one after the other. What follows a failure fails untried, so that it does not overtake it.
async fn in_order(handler: &TaskHandler, lane: Vec<SqsMessage>) -> Vec<BatchItemFailure> {
    let mut failed = Vec::new();
    for message in lane {
        if !failed.is_empty() || !is_done(handler, &message).await {
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = message.message_id.unwrap_or_default();
            failed.push(failure);
        }
    }
    failed
}

/// Handles one message.
async fn is_done(handler: &TaskHandler, message: &SqsMessage) -> bool {
    let (id, attempts) = (&message.message_id, message.attributes.get("ApproximateReceiveCount").map(String::as_str));
    let task = match Task::from_json(message.body.as_deref().unwrap_or_default()) {
        Ok(task) => task,
        // Another version of this function may have sent it, or be able to read it.
        Err(error) => {
            tracing::error!(context = ?error.context(), queue_message_id = id, attempts, "task cannot be read");
            return false;
        }
    };
    let identity = task.identity();
    // Where it panicked has been said by the panic itself.
    let handled = AssertUnwindSafe(async { handler(task).await }).catch_unwind().await;
    let Err(error) = handled.unwrap_or_else(|_| Err(Error::internal("panic"))) else { return true };
    tracing::error!(context = ?error.context(), queue_message_id = id, task = identity, attempts, "task failed: {error}");
    false
}

async fn repeat(job: Job) -> ExitCode {
    let run = service_fn(move |_: LambdaEvent<Value>| {
        let job = Arc::clone(&job);
        async move {
            job().await.map_err(|error| {
                tracing::error!(context = ?error.context(), "scheduled run failed: {error}");
                lambda_runtime::Error::from(error)
            })
        }
    });
    ended(lambda_runtime::run(run).await)
}

fn ended(result: Result<(), lambda_runtime::Error>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::warn!(%error, "the runtime ended");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use std::sync::Mutex;

    use super::*;

    /// A message of a queue: its id, its group and its task.
    fn message(queue: &str, id: &str, group: &str, body: String) -> SqsMessage {
        let mut message = SqsMessage::default();
        message.message_id = Some(id.to_owned());
        message.event_source_arn = Some(format!("arn:aws:sqs:us-east-1:000000000000:{queue}"));
        message.attributes.insert("MessageGroupId".to_owned(), group.to_owned());
        message.body = Some(body);
        message
    }

    fn task(seq: u64) -> String {
        Task::new_entry("acc", 1, seq).to_json()
    }

    /// The numbers of the entries that were handled, and the ids of the messages that are to come again. Entry 13 panics.
    async fn handled(messages: Vec<SqsMessage>) -> (Vec<u64>, Vec<String>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let handler: TaskHandler = Arc::new(move |task| {
            let Task::Entry(task) = task else { panic!("not an entry's") };
            assert_ne!(task.seq, 13, "this one panics");
            noted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(task.seq);
            Box::pin(async move { if task.seq == 7 { Err(Error::internal("7")) } else { Ok(()) } })
        });
        let failed = all(handler, messages).await.batch_item_failures;
        let seen = seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        (seen, failed.into_iter().map(|failure| failure.item_identifier).collect())
    }

    #[tokio::test]
    async fn a_panic_fails_one_message_of_a_batch() {
        let batch = [1, 13, 2, 7, 3].map(|seq| message("retries", &seq.to_string(), "acc", task(seq)));
        assert_eq!(handled(batch.into()).await, (vec![1, 2, 7, 3], vec!["13".to_owned(), "7".to_owned()]));
    }

    #[tokio::test]
    async fn a_task_that_cannot_be_read_is_not_dropped() {
        let bodies = [
            task(1).replace("\"v\":1", "\"v\":2"),
            task(1).replace("\"entry\"", "\"call\""),
            task(1).replace("\"seq\"", "\"place\""),
            "no json".to_owned(),
            String::new(),
        ];
        for body in bodies {
            let batch = vec![message("retries", "new", "acc", body.clone()), message("retries", "old", "acc", task(1))];
            assert_eq!(handled(batch).await, (vec![1], vec!["new".to_owned()]), "{body}");
        }
    }

    #[tokio::test]
    async fn what_follows_a_failure_in_a_fifo_group_fails_too() {
        let fifo = |id: &str, group: &str, seq| message("first.fifo", id, group, task(seq));
        let batch =
            vec![fifo("a1", "a", 1), fifo("a2", "a", 13), fifo("b1", "b", 2), fifo("a3", "a", 3), fifo("b2", "b", 4)];
        let (mut seen, failed) = handled(batch).await;
        seen.sort_unstable();
        assert_eq!((seen, failed), (vec![1, 2, 4], vec!["a2".to_owned(), "a3".to_owned()]));
    }
}
