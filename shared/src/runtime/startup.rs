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

/// Runs a function's process: starts logging, opens the dependencies of `handle`, and passes the handler to `serve`,
/// which runs the loop of the Lambda runtime. Returns the process's exit code once the loop has ended. If environment
/// variables are missing, logs their names and does not start the loop.
pub(super) async fn run<R, I, O, H, F>(handle: H, serve: fn(BoxedHandler<I, O>) -> RuntimeLoop) -> ExitCode
where
    R: Dependency,
    H: Fn(R, I) -> F + Send + Sync + 'static,
    F: Future<Output = O> + Send + 'static,
{
    log::start();
    let dependencies = match dependencies::open::<R>().await {
        Ok(dependencies) => dependencies,
        Err(missing) => {
            tracing::error!("{missing}");
            return ExitCode::FAILURE;
        }
    };
    match serve(Arc::new(move |input| Box::pin(handle(dependencies.clone(), input)))).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::warn!(%error, "Lambda runtime stopped");
            ExitCode::FAILURE
        }
    }
}
