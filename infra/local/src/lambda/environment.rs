//! What a process is told at its start: what Lambda sets, then the template's variables. Nothing of the
//! host's own environment gets through, so a function cannot come to depend on it.

use std::path::Path;

use uuid::Uuid;

use crate::endpoints::Endpoints;
use crate::identity::REGION;
use crate::template::Function;

/// The variables that all processes of a function have.
pub(super) fn of_function(function: &Function, binaries: &Path, endpoints: &Endpoints) -> Vec<(String, String)> {
    let name = function.name.as_str();
    let group = function.logging.group.clone().unwrap_or_else(|| format!("/aws/lambda/{name}"));
    let memory = function.memory.to_string();
    let root = binaries.to_string_lossy();
    let lambda = [
        ("_HANDLER", function.handler.as_str()),
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_DEFAULT_REGION", REGION),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", &memory),
        ("AWS_LAMBDA_FUNCTION_NAME", name),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"),
        ("AWS_LAMBDA_LOG_GROUP_NAME", &group),
        ("AWS_REGION", REGION),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_SESSION_TOKEN", "local"),
        ("LAMBDA_RUNTIME_DIR", &root),
        ("LAMBDA_TASK_ROOT", &root),
        ("LANG", "en_US.UTF-8"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin:/opt/bin"),
        ("TZ", ":UTC"),
    ];
    let logging = [
        ("AWS_LAMBDA_LOG_FORMAT", function.logging.format.as_deref()),
        ("AWS_LAMBDA_LOG_LEVEL", function.logging.level.as_deref()),
    ];
    let logging = logging.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let endpoints = endpoints.variables(name).map(|(name, value)| (name.to_owned(), value));
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let own = function.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    lambda.into_iter().chain(logging).map(owned).chain(endpoints).chain(own).collect()
}

/// The variables that differ from process to process.
pub(super) fn of_process(endpoints: &Endpoints, process: Uuid) -> [(&'static str, String); 2] {
    [
        ("AWS_LAMBDA_LOG_STREAM_NAME", format!("local/[$LATEST]{}", process.simple())),
        ("AWS_LAMBDA_RUNTIME_API", endpoints.runtime_api(process)),
    ]
}
