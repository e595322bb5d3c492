//! Functions that queues and schedules start. A queue's batch is handled concurrently; what fails is reported
//! by itself and comes again when its visibility time-out ends. A task that cannot be read is logged and
//! dropped: it would come again for ever.

use std::process::ExitCode;
use std::sync::Arc;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::future::{BoxFuture, join_all};
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;

use crate::delivery::task::Task;
use crate::error::Error;
use crate::resource::{self, Resource};

type TaskHandler = Arc<dyn Fn(Task) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;
type Job = Arc<dyn Fn() -> BoxFuture<'static, Result<Value, Error>> + Send + Sync>;

/// Runs a queue's consumer. The handler is boxed for the reason given at [`crate::http::run`].
pub async fn run<R, H, F>(handle: H) -> ExitCode
where
    R: Resource,
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
    R: Resource,
    H: Fn(R) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Value, Error>> + Send + 'static,
{
    match start::<R>().await {
        Ok(resources) => repeat(Arc::new(move || Box::pin(handle(resources.clone())))).await,
        Err(code) => code,
    }
}

async fn start<R: Resource>() -> Result<R, ExitCode> {
    crate::log::start();
    resource::open::<R>().await.map_err(|missing| {
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
    let failed = join_all(messages.into_iter().map(|message| one(&handler, message))).await;
    let mut response = SqsBatchResponse::default();
    response.batch_item_failures = failed.into_iter().flatten().collect();
    response
}

/// Handles one message; what is returned is to come again.
async fn one(handler: &TaskHandler, message: SqsMessage) -> Option<BatchItemFailure> {
    let task = match Task::from_json(message.body.as_deref().unwrap_or_default()) {
        Ok(task) => task,
        Err(error) => {
            tracing::error!(context = ?error.context(), queue_message_id = message.message_id, "task dropped");
            return None;
        }
    };
    let identity = task.identity();
    let error = handler(task).await.err()?;
    let (attempts, id) = (message.attributes.get("ApproximateReceiveCount").map(String::as_str), &message.message_id);
    tracing::error!(context = ?error.context(), queue_message_id = id, task = identity, attempts, "task failed: {error}");
    let mut failure = BatchItemFailure::default();
    failure.item_identifier = message.message_id.unwrap_or_default();
    Some(failure)
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
