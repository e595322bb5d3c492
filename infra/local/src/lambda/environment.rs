//! Builds the environment variables for a function process: those that Lambda sets, the URLs of the local services,
//! those from the template, the host's clock, and an injected clock error. Processes do not inherit the host's own
//! environment, so a function cannot depend on it.

use uuid::Uuid;

use super::launch_context::LaunchContext;
use crate::aws::arn::REGION;
use crate::aws::service_endpoints::ServiceEndpoints;
use crate::faults::Faults;
use crate::template::Function;

/// Returns the variables that are the same for all of a function's processes.
pub(crate) fn function_variables(function: &Function, context: &LaunchContext) -> Vec<(String, String)> {
    let name = function.name.as_str();
    let log_group = function.logging.group.clone().unwrap_or_else(|| format!("/aws/lambda/{name}"));
    let memory_mb = function.memory_mb.to_string();
    let task_root = context.binaries.to_string_lossy();
    let clock_file = context.clock.file().to_string_lossy();
    let standard = [
        ("_HANDLER", function.handler.as_str()),
        ("AWS_ACCESS_KEY_ID", context.access_keys.of_function(name)),
        ("AWS_DEFAULT_REGION", REGION),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", &memory_mb),
        ("AWS_LAMBDA_FUNCTION_NAME", name),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"),
        ("AWS_LAMBDA_LOG_GROUP_NAME", &log_group),
        ("AWS_REGION", REGION),
        ("AWS_SECRET_ACCESS_KEY", context.access_keys.secret()),
        ("AWS_SESSION_TOKEN", "local"),
        // Only development builds of the functions read this variable.
        ("CLOCK_FILE", &clock_file),
        ("LAMBDA_RUNTIME_DIR", &task_root),
        ("LAMBDA_TASK_ROOT", &task_root),
        ("LANG", "en_US.UTF-8"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin:/opt/bin"),
        ("TZ", ":UTC"),
    ];
    let logging = [
        ("AWS_LAMBDA_LOG_FORMAT", function.logging.format.as_deref()),
        ("AWS_LAMBDA_LOG_LEVEL", function.logging.level.as_deref()),
    ];
    let logging = logging.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let endpoints = context.endpoints.sdk_variables(name).map(|(name, value)| (name.to_owned(), value));
    let to_owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let template = function.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    standard.into_iter().chain(logging).map(to_owned).chain(endpoints).chain(template).collect()
}

pub(super) fn process_variables(endpoints: &ServiceEndpoints, process: Uuid) -> [(&'static str, String); 2] {
    [
        ("AWS_LAMBDA_LOG_STREAM_NAME", format!("local/[$LATEST]{}", process.simple())),
        ("AWS_LAMBDA_RUNTIME_API", endpoints.runtime_api(process)),
    ]
}

/// Returns the variable that contains the clock error of a process, or `None` if no error is injected. Only development
/// builds of the functions read the variable.
pub(super) fn clock_error_variable(faults: &Faults) -> Option<(&'static str, String)> {
    faults.clock_error_ms().map(|error_ms| ("CLOCK_ERROR_MS", error_ms.to_string()))
}
