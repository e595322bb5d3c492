//! The startup and shutdown of a function's process, which are the same for HTTP functions, queue consumers and
//! scheduled functions.

use std::process::ExitCode;

use crate::runtime::dependencies::{self, Dependency};
use crate::runtime::log;

/// Starts logging and opens the dependencies of a handler. If environment variables are missing, logs their names and
/// returns the exit code for the process.
pub(super) async fn open_dependencies<R: Dependency>() -> Result<R, ExitCode> {
    log::start();
    dependencies::open::<R>().await.map_err(|missing| {
        tracing::error!("{missing}");
        ExitCode::FAILURE
    })
}

/// Returns the process's exit code once the Lambda runtime's loop has ended.
pub(super) fn exit_code(result: Result<(), lambda_runtime::Error>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::warn!(%error, "Lambda runtime stopped");
            ExitCode::FAILURE
        }
    }
}
