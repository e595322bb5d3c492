//! Runs functions that another service invokes with an event of its own, asynchronously. Lambda repeats a failed
//! invocation twice, and then sends the event to the function's dead-letter queue.

use std::process::ExitCode;

use futures_util::TryFutureExt;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;

use crate::error::Error;
use crate::runtime::dependencies::Dependency;
use crate::runtime::startup::{self, BoxedHandler, Handler, RuntimeLoop};

type EventHandler = BoxedHandler<Value, Result<(), Error>>;

pub fn run<R: Dependency>(handler: impl Handler<R, Value, Result<(), Error>>) -> ExitCode {
    startup::run(handler, serve)
}

fn serve(handler: EventHandler) -> RuntimeLoop {
    Box::pin(async move {
        let service = service_fn(|event: LambdaEvent<Value>| {
            handler(event.payload).map_err(|error| {
                tracing::error!(context = error.context(), "invocation failed: {error}");
                lambda_runtime::Error::from(error)
            })
        });
        lambda_runtime::run(service).await
    })
}
