//! Reads a function's `Events`: HTTP API routes, queues and schedules.

use std::time::Duration;

use super::error::{Error, ErrorKind, ValuePath};
use super::evaluated_value::EvaluatedValue;
use super::queue::queue_name_from_arn;

/// An HTTP API route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The method in uppercase. `None` stands for `ANY`.
    pub method: Option<String>,
    /// The path as in the template, with `{name}` and `{name+}` parameters. `$default` matches all requests that no
    /// other route matches.
    pub path: String,
    /// How long the gateway waits for the function.
    pub timeout: Duration,
    /// The line number in the template, counted from 1.
    pub line: usize,
}

/// An event source mapping for a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueMapping {
    /// The name of the local queue.
    pub queue: String,
    /// The maximum number of messages in one invocation.
    pub batch_size: u32,
    /// How long the mapping waits for more messages when a batch is not full.
    pub batching_window: Duration,
    /// Whether the function reports which messages in a batch failed (`ReportBatchItemFailures`).
    pub reports_partial_failures: bool,
    /// The maximum number of concurrent invocations for this queue. With `None`, the host uses its own default.
    pub max_concurrency: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The event's name in the template.
    pub name: String,
    pub interval: Duration,
}

impl Route {
    /// Returns the route key, such as `GET /agent/chats/{chat_id}`.
    #[must_use]
    pub fn key(&self) -> String {
        if self.path == "$default" {
            return self.path.clone();
        }
        format!("{} {}", self.method.as_deref().unwrap_or("ANY"), self.path)
    }

    /// Returns the route key without parameter names. Two routes with the same pattern match the same requests.
    pub(super) fn pattern(&self) -> String {
        let without_name = |segment: &str| match segment.strip_prefix('{') {
            Some(name) if name.ends_with("+}") => "{+}".to_owned(),
            Some(_) => "{}".to_owned(),
            None => segment.to_owned(),
        };
        self.key().split('/').map(without_name).collect::<Vec<_>>().join("/")
    }

    pub(super) fn duplicate_route_error(&self, function: &str, owner: &str) -> Error {
        let kind = ErrorKind::DuplicateRoute { route: self.key(), owner: owner.to_owned() };
        ValuePath::default().child(function).error(self.line, kind)
    }
}

pub(super) enum EventSource {
    Route(Route),
    Queue(QueueMapping),
    Schedule(Schedule),
}

/// Reads one of a function's events. Returns `None` if the event is disabled.
pub(super) fn read(name: &str, event: &EvaluatedValue<'_>) -> Result<Option<EventSource>, Error> {
    let event_type = event.require("Type")?;
    let properties = event.get_or_empty("Properties")?;
    let schedule_with = |key| Ok(Some(EventSource::Schedule(schedule(name, &properties.require(key)?)?)));
    match event_type.text()?.as_str() {
        "HttpApi" => Ok(Some(EventSource::Route(route(&properties)?))),
        "SQS" if is_enabled(&properties)? => Ok(Some(EventSource::Queue(queue_mapping(&properties)?))),
        "Schedule" if is_enabled(&properties)? => schedule_with("Schedule"),
        "ScheduleV2" if is_enabled(&properties)? => schedule_with("ScheduleExpression"),
        "SQS" | "Schedule" | "ScheduleV2" => Ok(None),
        other => Err(event_type.error(ErrorKind::UnsupportedEvent(other.to_owned()))),
    }
}

fn is_enabled(properties: &EvaluatedValue<'_>) -> Result<bool, Error> {
    let state = properties.get("State")?.map(|state| state.text()).transpose()?;
    Ok(properties.boolean_or("Enabled", true)? && state.as_deref() != Some("DISABLED"))
}

fn route(properties: &EvaluatedValue<'_>) -> Result<Route, Error> {
    if let Some(version) = properties.get("PayloadFormatVersion")?
        && version.text()? != "2.0"
    {
        return Err(version.unexpected_value("2.0"));
    }
    let path = match properties.get("Path")? {
        Some(path) => route_path(&path)?,
        None => "$default".to_owned(),
    };
    let timeout_ms = properties.number_or("TimeoutInMillis", 50..=30_000, 30_000)?;
    Ok(Route {
        method: method(properties)?,
        path,
        timeout: Duration::from_millis(timeout_ms.into()),
        line: properties.line(),
    })
}

fn route_path(path: &EvaluatedValue<'_>) -> Result<String, Error> {
    let text = path.text()?;
    let is_segment = |segment: &str| match segment.strip_prefix('{') {
        Some(name) => name.len() > 1 && name.ends_with('}'),
        None => !segment.contains(['{', '}']),
    };
    if text == "$default" || text.starts_with('/') && text.split('/').all(is_segment) {
        return Ok(text);
    }
    Err(path.unexpected_value("a path such as /agent/chats/{chat_id}"))
}

/// Reads a route's method. Returns `None` if the route matches any method.
fn method(properties: &EvaluatedValue<'_>) -> Result<Option<String>, Error> {
    let Some(method) = properties.get("Method")? else {
        return Ok(None);
    };
    let text = method.text()?.to_ascii_uppercase();
    match text.as_str() {
        "ANY" | "X-AMAZON-APIGATEWAY-ANY-METHOD" => Ok(None),
        "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" => Ok(Some(text)),
        _ => Err(method.unexpected_value("an HTTP method or ANY")),
    }
}

fn queue_mapping(properties: &EvaluatedValue<'_>) -> Result<QueueMapping, Error> {
    let queue = queue_name_from_arn(&properties.require("Queue")?)?;
    // A receive from a FIFO queue returns at most ten messages, and Lambda does not combine several receives into one
    // batch.
    let max_batch_size = if queue.ends_with(".fifo") { 10 } else { 10_000 };
    let concurrency = properties.get_or_empty("ScalingConfig")?.get("MaximumConcurrency")?;
    Ok(QueueMapping {
        batch_size: properties.number_or("BatchSize", 1..=max_batch_size, 10)?,
        batching_window: batching_window(&queue, properties)?,
        reports_partial_failures: reports_partial_failures(properties)?,
        max_concurrency: concurrency.map(|limit| limit.number(2..=1000)).transpose()?,
        queue,
    })
}

fn batching_window(queue: &str, properties: &EvaluatedValue<'_>) -> Result<Duration, Error> {
    let max_seconds = if queue.ends_with(".fifo") { 0 } else { 300 };
    let seconds = properties.number_or("MaximumBatchingWindowInSeconds", 0..=max_seconds, 0)?;
    Ok(Duration::from_secs(seconds.into()))
}

fn reports_partial_failures(properties: &EvaluatedValue<'_>) -> Result<bool, Error> {
    let Some(response_types) = properties.get("FunctionResponseTypes")? else {
        return Ok(false);
    };
    for response_type in response_types.items()? {
        if response_type.text()? != "ReportBatchItemFailures" {
            return Err(response_type.unexpected_value("ReportBatchItemFailures"));
        }
    }
    Ok(true)
}

fn schedule(name: &str, expression: &EvaluatedValue<'_>) -> Result<Schedule, Error> {
    let expected = "rate(n minutes), (n hours) or (n days)";
    let interval = parse_rate(&expression.text()?).ok_or_else(|| expression.unexpected_value(expected))?;
    Ok(Schedule { name: name.to_owned(), interval })
}

fn parse_rate(expression: &str) -> Option<Duration> {
    let rate = expression.strip_prefix("rate(")?.strip_suffix(')')?;
    let (count, unit) = rate.split_once(' ')?;
    let count: u32 = count.parse().ok().filter(|count| *count > 0)?;
    let seconds = match unit {
        "minute" | "minutes" => 60,
        "hour" | "hours" => 3_600,
        "day" | "days" => 86_400,
        _ => return None,
    };
    Some(Duration::from_secs(seconds) * count)
}
