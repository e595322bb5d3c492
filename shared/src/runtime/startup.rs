//! The startup and shutdown of a function's process, which are the same for all kinds of functions.

use std::process::ExitCode;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::runtime::dependencies::{self, Dependency};
use crate::runtime::log;

/// A handler with its dependencies. It is boxed so that the generic loop of the Lambda runtime is compiled only once
/// for each kind of function, in this crate, instead of in every function.
pub(super) type BoxedHandler<I, O> = Arc<dyn Fn(I) -> BoxFuture<'static, O> + Send + Sync>;

/// Runs a function's process: starts logging, opens the dependencies of `handle`, and passes the handler to `serve`,
/// which runs the loop of the Lambda runtime. Returns the process's exit code once the loop has ended. If environment
/// variables are missing, logs their names and does not start the loop.
pub(super) async fn run<R, I, O, H, F, S>(handle: H, serve: impl FnOnce(BoxedHandler<I, O>) -> S) -> ExitCode
where
    R: Dependency,
    H: Fn(R, I) -> F + Send + Sync + 'static,
    F: Future<Output = O> + Send + 'static,
    S: Future<Output = Result<(), lambda_runtime::Error>>,
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
