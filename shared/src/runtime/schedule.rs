//! Runs scheduled functions.

use std::process::ExitCode;

use futures_util::TryFutureExt;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;

use crate::error::Error;
use crate::runtime::dependencies::Dependency;
use crate::runtime::startup::{self, BoxedHandler, Handler, RuntimeLoop};

type ScheduledHandler = BoxedHandler<(), Result<Value, Error>>;

/// Runs the process of a scheduled function. The value that the handler returns becomes the invocation's response.
pub fn run<R: Dependency>(handler: impl Handler<R, (), Result<Value, Error>>) -> ExitCode {
    startup::run(handler, serve)
}

fn serve(handler: ScheduledHandler) -> RuntimeLoop {
    Box::pin(async move {
        let service = service_fn(|_: LambdaEvent<Value>| {
            handler(()).map_err(|error| {
                tracing::error!(context = error.context(), "scheduled run failed: {error}");
                lambda_runtime::Error::from(error)
            })
        });
        lambda_runtime::run(service).await
    })
}
