//! Runs functions that consume a queue. The messages of a batch are handled concurrently, except that messages of the
//! same FIFO group are handled in order. If a message cannot be read, or its handler fails or panics, the queue
//! delivers the message again after the visibility timeout. After the fifth receive, the message moves to the
//! dead-letter queue.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt;
use futures_util::future::join_all;
use lambda_runtime::{LambdaEvent, service_fn};
use tracing::Instrument;

use crate::error::Error;
use crate::runtime::dependencies::Dependency;
use crate::runtime::startup::{self, BoxedHandler, Handler, RuntimeLoop};
use crate::runtime::trace::{Invocation, SpanResult, Tracer};
use crate::wire::otlp::SpanKind;
use crate::wire::queue_message;
use crate::wire::queue_task::Task;

type TaskHandler = BoxedHandler<Task, Result<(), Error>>;

pub fn run<R: Dependency>(handler: impl Handler<R, Task, Result<(), Error>>) -> ExitCode {
    startup::run(handler, serve)
}

fn serve(handler: TaskHandler) -> RuntimeLoop {
    Box::pin(async move {
        let tracer = Tracer::read();
        let service = service_fn(|event: LambdaEvent<SqsEvent>| {
            handle_batch(&handler, &tracer, event.payload.records).map(Ok::<_, lambda_runtime::Error>)
        });
        lambda_runtime::run(service).await
    })
}

async fn handle_batch(handler: &TaskHandler, tracer: &Tracer, messages: Vec<SqsMessage>) -> SqsBatchResponse {
    let (groups, invocation) = (ordered_groups(messages), tracer.begin_invocation());
    let failed = join_all(groups.into_iter().map(|group| handle_in_order(handler, &invocation, group))).await;
    invocation.export().await;
    let mut response = SqsBatchResponse::default();
    response.batch_item_failures = failed.into_iter().flatten().collect();
    response
}

/// Divides a batch into sequences that must be handled in order. The messages in one message group of a FIFO queue form
/// a sequence. Standard queues do not preserve order, so each of their messages is a sequence of its own.
fn ordered_groups(messages: Vec<SqsMessage>) -> Vec<Vec<SqsMessage>> {
    let (mut groups, mut index_by_group_id) = (Vec::<Vec<SqsMessage>>::new(), HashMap::new());
    for message in messages {
        let is_fifo = message.event_source_arn.as_ref().is_some_and(|queue| queue.ends_with(".fifo"));
        let group_id = message.attributes.get("MessageGroupId").filter(|_| is_fifo).cloned();
        let index = group_id.map_or(groups.len(), |id| *index_by_group_id.entry(id).or_insert(groups.len()));
        match groups.get_mut(index) {
            Some(group) => group.push(message),
            None => groups.push(vec![message]),
        }
    }
    groups
}

/// Handles the messages of a group in order and returns the ones that failed. After a failure, the rest of the group is
/// reported as failed without being handled, so that no message overtakes the failed one.
async fn handle_in_order(
    handler: &TaskHandler,
    invocation: &Invocation<'_>,
    group: Vec<SqsMessage>,
) -> Vec<BatchItemFailure> {
    let mut failed = Vec::new();
    for message in group {
        if !failed.is_empty() || !handle_message(handler, invocation, &message).await {
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = message.message_id.unwrap_or_default();
            failed.push(failure);
        }
    }
    failed
}

/// Returns whether the message was handled. Failures are logged.
async fn handle_message(handler: &TaskHandler, invocation: &Invocation<'_>, message: &SqsMessage) -> bool {
    let body = message.body.as_deref().unwrap_or_default();
    let (id, attempts) = (&message.message_id, message.attributes.get("ApproximateReceiveCount").map(String::as_str));
    let task = match Task::from_json(body) {
        Ok(task) => task,
        // The task may come from another version of the function, so it is retried instead of dropped.
        Err(error) => {
            tracing::error!(context = error.context(), queue_message_id = id, attempts, "task cannot be read");
            return false;
        }
    };
    let deduplication_id = task.deduplication_id();
    let span = invocation.open_span(queue_message::parse_trace(body));
    let trace_id = span.context().trace_id_hex();
    let log_span = tracing::error_span!("task", trace_id);
    // The panic hook has already logged where the panic occurred.
    let work = AssertUnwindSafe(async { handler(task).await }).catch_unwind();
    let result = span.run(work).instrument(log_span).await.unwrap_or_else(|_| Err(Error::internal("panic")));
    span.end(|| span_result(message, &deduplication_id, result.is_err()));
    let Err(error) = result else { return true };
    tracing::error!(
        context = error.context(),
        queue_message_id = id,
        task = deduplication_id,
        trace_id,
        attempts,
        "task failed: {error}"
    );
    false
}

fn span_result(message: &SqsMessage, task: &str, has_failed: bool) -> SpanResult {
    let queue = message.event_source_arn.as_deref().and_then(|arn| arn.rsplit(':').next()).unwrap_or_default();
    let attributes = vec![
        ("messaging.system", "aws_sqs".into()),
        ("messaging.destination.name", queue.into()),
        ("messaging.message.id", message.message_id.as_deref().unwrap_or_default().into()),
        ("switchboard.task", task.into()),
    ];
    SpanResult { kind: SpanKind::Consumer, name: format!("process {queue}"), has_failed, attributes }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use std::sync::{Arc, Mutex};

    use super::*;

    fn message(queue: &str, id: &str, group: &str, body: String) -> SqsMessage {
        let mut message = SqsMessage::default();
        message.message_id = Some(id.to_owned());
        message.event_source_arn = Some(format!("arn:aws:sqs:us-east-1:000000000000:{queue}"));
        message.attributes.insert("MessageGroupId".to_owned(), group.to_owned());
        message.body = Some(body);
        message
    }

    fn task(seq: u64) -> String {
        Task::first_attempt_of_new_entry("acc", 1, seq).to_json()
    }

    /// Handles a batch. Returns the `seq` of each handled entry and the ids of the failed messages. The handler fails
    /// for entry 7 and panics for entry 13.
    async fn handle(messages: Vec<SqsMessage>) -> (Vec<u64>, Vec<String>) {
        let handled = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&handled);
        let handler: TaskHandler = Arc::new(move |task| {
            let Task::Entry(task) = task else { panic!("not an entry's") };
            assert_ne!(task.seq, 13, "this one panics");
            recorded.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(task.seq);
            Box::pin(async move { if task.seq == 7 { Err(Error::internal("7")) } else { Ok(()) } })
        });
        let failed = handle_batch(&handler, &Tracer::read(), messages).await.batch_item_failures;
        let handled = handled.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        (handled, failed.into_iter().map(|failure| failure.item_identifier).collect())
    }

    #[tokio::test]
    async fn panic_fails_one_message_of_a_batch() {
        let batch = [1, 13, 2, 7, 3].map(|seq| message("retries", &seq.to_string(), "acc", task(seq)));
        assert_eq!(handle(batch.into()).await, (vec![1, 2, 7, 3], vec!["13".to_owned(), "7".to_owned()]));
    }

    #[tokio::test]
    async fn unreadable_task_is_not_dropped() {
        let bodies = [
            task(1).replace("\"v\":1", "\"v\":2"),
            task(1).replace("\"entry\"", "\"call\""),
            task(1).replace("\"seq\"", "\"place\""),
            "no json".to_owned(),
            String::new(),
        ];
        for body in bodies {
            let batch = vec![message("retries", "new", "acc", body.clone()), message("retries", "old", "acc", task(1))];
            assert_eq!(handle(batch).await, (vec![1], vec!["new".to_owned()]), "{body}");
        }
    }

    #[tokio::test]
    async fn fifo_group_stops_at_its_first_failure() {
        let fifo = |id: &str, group: &str, seq| message("first.fifo", id, group, task(seq));
        let batch =
            vec![fifo("a1", "a", 1), fifo("a2", "a", 13), fifo("b1", "b", 2), fifo("a3", "a", 3), fifo("b2", "b", 4)];
        let (mut handled, failed) = handle(batch).await;
        handled.sort_unstable();
        assert_eq!((handled, failed), (vec![1, 2, 4], vec!["a2".to_owned(), "a3".to_owned()]));
    }
}
