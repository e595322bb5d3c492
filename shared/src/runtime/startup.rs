//! The startup and shutdown of a function's process, which are the same for all kinds of functions.

use std::process::ExitCode;
use std::sync::Arc;

use futures_util::future::{BoxFuture, LocalBoxFuture};

use crate::runtime::dependencies::{self, Dependency};
use crate::runtime::log;

/// A handler with its dependencies. It is boxed, like [`RuntimeLoop`], so that the generic loop of the Lambda runtime
/// is compiled only once for each kind of function, in this crate, instead of in every function.
pub(super) type BoxedHandler<I, O> = Arc<dyn Fn(I) -> BoxFuture<'static, O> + Send + Sync>;

/// The loop of the Lambda runtime. The body of an `async fn` is compiled in the crate that polls it; that of a boxed
/// future is compiled in the crate that boxes it.
pub(super) type RuntimeLoop = LocalBoxFuture<'static, Result<(), lambda_runtime::Error>>;

/// What a function does with an event: an async function of its dependencies and the event.
pub trait Handler<R, I, O>: Send + Sync + 'static {
    fn call(&self, dependencies: R, input: I) -> BoxFuture<'static, O>;
}

impl<R, I, O, H, F> Handler<R, I, O> for H
where
    H: Fn(R, I) -> F + Send + Sync + 'static,
    F: Future<Output = O> + Send + 'static,
{
    fn call(&self, dependencies: R, input: I) -> BoxFuture<'static, O> {
        Box::pin(self(dependencies, input))
    }
}

/// Runs a function's process: starts logging, opens the dependencies of `handler`, and passes the handler to `serve`,
/// which runs the loop of the Lambda runtime. Returns the process's exit code once the loop has ended. If environment
/// variables are missing, logs their names and does not start the loop.
pub(super) fn run<R, I, O>(handler: impl Handler<R, I, O>, serve: fn(BoxedHandler<I, O>) -> RuntimeLoop) -> ExitCode
where
    R: Dependency,
{
    log::start();
    // A process handles one event at a time, so one thread is enough.
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(open_and_serve(handler, serve)),
        Err(error) => {
            tracing::error!(%error, "asynchronous runtime not started");
            ExitCode::FAILURE
        }
    }
}

async fn open_and_serve<R, I, O>(
    handler: impl Handler<R, I, O>,
    serve: fn(BoxedHandler<I, O>) -> RuntimeLoop,
) -> ExitCode
where
    R: Dependency,
{
    let dependencies = match dependencies::open::<R>().await {
        Ok(dependencies) => dependencies,
        Err(missing) => {
            tracing::error!("{missing}");
            return ExitCode::FAILURE;
        }
    };
    match serve(Arc::new(move |input| handler.call(dependencies.clone(), input))).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::warn!(%error, "Lambda runtime stopped");
            ExitCode::FAILURE
        }
    }
}
