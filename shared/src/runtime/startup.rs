//! The start and the end of a function's process, for HTTP functions, queue consumers and schedules.

use std::process::ExitCode;

use crate::runtime::dependencies::{self, Dependency};
use crate::runtime::log;

/// Starts logging and opens the dependencies of a handler. Missing variables are logged, and the process must end with
/// the returned exit code.
pub(super) async fn open_dependencies<R: Dependency>() -> Result<R, ExitCode> {
    log::start();
    dependencies::open::<R>().await.map_err(|missing| {
        tracing::error!("{missing}");
        ExitCode::FAILURE
    })
}

/// The exit code when the loop of the Lambda runtime has ended.
pub(super) fn exit_code(result: Result<(), lambda_runtime::Error>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::warn!(%error, "Lambda runtime stopped");
            ExitCode::FAILURE
        }
    }
}
