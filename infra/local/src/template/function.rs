//! Reads `AWS::Serverless::Function`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::error::{Error, ErrorKind, ValuePath};
use super::evaluated_value::EvaluatedValue;
use super::event_sources::{self, EventSource, Route, Schedule};
use super::policy::{self, PermissionsByRole};
use super::queue_mapping::QueueMapping;
use super::stream_mapping::StreamMapping;
use crate::aws::iam::Permission;

#[derive(Debug, Clone)]
pub struct Function {
    /// The logical id in the template, such as `DeliverChannel`.
    pub logical_id: String,
    /// The last segment of `CodeUri`. It is the name of both the binary and the function on this host.
    pub name: String,
    /// The line number of `CodeUri` in the template, counted from 1.
    pub line: usize,
    /// The value of `_HANDLER`, which the functions' custom runtime ignores.
    pub handler: String,
    pub timeout: Duration,
    /// The memory size is passed to the function in its environment but not enforced.
    pub memory_mb: u32,
    /// The maximum number of concurrent invocations. Further invocations wait. With `None`, the host uses its own
    /// limit.
    pub reserved_concurrency: Option<u32>,
    pub environment: BTreeMap<String, String>,
    pub logging: Logging,
    pub routes: Vec<Route>,
    pub queues: Vec<QueueMapping>,
    pub streams: Vec<StreamMapping>,
    pub schedules: Vec<Schedule>,
    pub permissions: Vec<Permission>,
}

/// The template's `LoggingConfig`. A property that the template does not set is `None`.
#[derive(Debug, Clone, Default)]
pub struct Logging {
    pub format: Option<String>,
    pub level: Option<String>,
    pub group: Option<String>,
}

impl Function {
    pub(super) fn duplicate_binary_error(&self, owner: &str) -> Error {
        let path = ValuePath::default().child(&self.logical_id).child("CodeUri");
        let kind = ErrorKind::DuplicateBinary { binary: self.name.clone(), owner: owner.to_owned() };
        path.error(self.line, kind)
    }
}

pub(super) fn read(
    logical_id: &str,
    properties: &EvaluatedValue<'_>,
    roles: &PermissionsByRole,
) -> Result<Function, Error> {
    let code_uri = properties.require("CodeUri")?;
    let mut function = Function {
        logical_id: logical_id.to_owned(),
        name: binary_name(&code_uri)?,
        line: code_uri.line(),
        handler: optional_text(properties, "Handler")?.unwrap_or_else(|| "bootstrap".to_owned()),
        timeout: Duration::from_secs(properties.number_or("Timeout", 1..=900, 3)?.into()),
        memory_mb: properties.number_or("MemorySize", 128..=10_240, 128)?,
        reserved_concurrency: reserved_concurrency(properties)?,
        environment: environment(properties)?,
        logging: logging(&properties.get_or_empty("LoggingConfig")?)?,
        routes: Vec::new(),
        queues: Vec::new(),
        streams: Vec::new(),
        schedules: Vec::new(),
        permissions: Vec::new(),
    };
    for (name, event) in properties.get_or_empty("Events")?.entries()? {
        match event_sources::read(&name, &event)? {
            Some(EventSource::Route(route)) => function.routes.push(route),
            Some(EventSource::Queue(queue)) => function.queues.push(queue),
            Some(EventSource::Stream(stream)) => function.streams.push(stream),
            Some(EventSource::Schedule(schedule)) => function.schedules.push(schedule),
            None => {}
        }
    }
    function.permissions = policy::function_permissions(properties, roles, &function.queues, &function.streams)?;
    Ok(function)
}

fn binary_name(code_uri: &EvaluatedValue<'_>) -> Result<String, Error> {
    let uri = code_uri.text()?;
    let last = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if last.is_empty() || last == "." {
        return Err(code_uri.unexpected_value("target/lambda/<binary>/"));
    }
    Ok(last.to_owned())
}

fn reserved_concurrency(properties: &EvaluatedValue<'_>) -> Result<Option<u32>, Error> {
    match properties.get("ReservedConcurrentExecutions")? {
        Some(reserved) => reserved.number(1..=1000).map(Some),
        None => Ok(None),
    }
}

fn environment(properties: &EvaluatedValue<'_>) -> Result<BTreeMap<String, String>, Error> {
    let variables = properties.get_or_empty("Environment")?.get_or_empty("Variables")?.entries()?;
    variables.into_iter().map(|(name, value)| Ok((name, value.text()?))).collect()
}

fn logging(config: &EvaluatedValue<'_>) -> Result<Logging, Error> {
    Ok(Logging {
        format: optional_text(config, "LogFormat")?,
        level: optional_text(config, "ApplicationLogLevel")?,
        group: optional_text(config, "LogGroup")?,
    })
}

fn optional_text(properties: &EvaluatedValue<'_>, key: &str) -> Result<Option<String>, Error> {
    properties.get(key)?.map(|value| value.text()).transpose()
}
