//! Runs scheduled functions.

use std::process::ExitCode;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;

use crate::error::Error;
use crate::runtime::dependencies::Dependency;
use crate::runtime::startup;

type ScheduledHandler = Arc<dyn Fn() -> BoxFuture<'static, Result<Value, Error>> + Send + Sync>;

/// Runs a scheduled function until the process ends. The value that the handler returns becomes the invocation's
/// response.
pub async fn run<R, H, F>(handle: H) -> ExitCode
where
    R: Dependency,
    H: Fn(R) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Value, Error>> + Send + 'static,
{
    match startup::open_dependencies::<R>().await {
        Ok(dependencies) => run_schedule(Arc::new(move || Box::pin(handle(dependencies.clone())))).await,
        Err(code) => code,
    }
}

async fn run_schedule(handler: ScheduledHandler) -> ExitCode {
    let service = service_fn(move |_: LambdaEvent<Value>| {
        let handler = Arc::clone(&handler);
        async move {
            handler().await.map_err(|error| {
                tracing::error!(context = ?error.context(), "scheduled run failed: {error}");
                lambda_runtime::Error::from(error)
            })
        }
    });
    startup::exit_code(lambda_runtime::run(service).await)
}
