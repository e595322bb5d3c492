//! The events of a function: routes of the HTTP API, queues, schedules.

use std::time::Duration;

use super::cursor::Cursor;
use super::error::{Error, Place, Problem};

/// A route of the HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Upper-case; `None` is `ANY`.
    pub method: Option<String>,
    /// As in the template, with `{name}` and `{name+}`; `$default` takes what no other route does.
    pub path: String,
    /// How long the gateway waits for the function.
    pub timeout: Duration,
    /// Line in the template.
    pub line: usize,
}

/// A queue that feeds a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueMapping {
    /// The queue's local name.
    pub queue: String,
    /// How many messages one invocation takes at most.
    pub batch_size: u32,
    /// How long a batch may wait for more messages.
    pub window: Duration,
    /// Whether the function names the messages that failed.
    pub partial_failures: bool,
    /// How many batches are in the function at once.
    pub max_concurrency: Option<u32>,
}

/// A clock that calls a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The event's name.
    pub name: String,
    /// The period.
    pub every: Duration,
}

impl Route {
    /// The route key of the event, such as `GET /agent/chats/{chat_id}`.
    #[must_use]
    pub fn key(&self) -> String {
        if self.path == "$default" {
            return self.path.clone();
        }
        format!("{} {}", self.method.as_deref().unwrap_or("ANY"), self.path)
    }

    /// What two routes may not share: the key without the names of its parameters.
    pub(super) fn shape(&self) -> String {
        let nameless = |segment: &str| match segment.strip_prefix('{') {
            Some(name) if name.ends_with("+}") => "{+}".to_owned(),
            Some(_) => "{}".to_owned(),
            None => segment.to_owned(),
        };
        self.key().split('/').map(nameless).collect::<Vec<_>>().join("/")
    }

    pub(super) fn duplicate(&self, function: &str, owner: &str) -> Error {
        let problem = Problem::DuplicateRoute { route: self.key(), owner: owner.to_owned() };
        Place::default().inner(function).error(self.line, problem)
    }
}

/// What an event of a function is.
pub(super) enum Trigger {
    Route(Route),
    Queue(QueueMapping),
    Schedule(Schedule),
}

/// Reads an event; none when it is switched off.
pub(super) fn read(name: &str, event: &Cursor<'_>) -> Result<Option<Trigger>, Error> {
    let kind = event.require("Type")?;
    let properties = event.section("Properties")?;
    let schedule_of = |key| Ok(Some(Trigger::Schedule(schedule(name, &properties.require(key)?)?)));
    match kind.text()?.as_str() {
        "HttpApi" => Ok(Some(Trigger::Route(route(&properties)?))),
        "SQS" if is_enabled(&properties)? => Ok(Some(Trigger::Queue(queue(&properties)?))),
        "Schedule" if is_enabled(&properties)? => schedule_of("Schedule"),
        "ScheduleV2" if is_enabled(&properties)? => schedule_of("ScheduleExpression"),
        "SQS" | "Schedule" | "ScheduleV2" => Ok(None),
        other => Err(kind.error(Problem::UnknownEvent(other.to_owned()))),
    }
}

fn is_enabled(properties: &Cursor<'_>) -> Result<bool, Error> {
    let state = properties.get("State")?.map(|state| state.text()).transpose()?;
    Ok(properties.flag_or("Enabled", true)? && state.as_deref() != Some("DISABLED"))
}

fn route(properties: &Cursor<'_>) -> Result<Route, Error> {
    if let Some(version) = properties.get("PayloadFormatVersion")?
        && version.text()? != "2.0"
    {
        return Err(version.expected("2.0"));
    }
    let path = match properties.get("Path")? {
        Some(path) => self::path(&path)?,
        None => "$default".to_owned(),
    };
    let timeout = properties.number_or("TimeoutInMillis", 50..=30_000, 30_000)?;
    Ok(Route {
        method: method(properties)?,
        path,
        timeout: Duration::from_millis(timeout.into()),
        line: properties.line(),
    })
}

fn path(path: &Cursor<'_>) -> Result<String, Error> {
    let text = path.text()?;
    let is_segment = |segment: &str| match segment.strip_prefix('{') {
        Some(name) => name.len() > 1 && name.ends_with('}'),
        None => !segment.contains(['{', '}']),
    };
    if text == "$default" || text.starts_with('/') && text.split('/').all(is_segment) {
        return Ok(text);
    }
    Err(path.expected("a path such as /agent/chats/{chat_id}"))
}

fn method(properties: &Cursor<'_>) -> Result<Option<String>, Error> {
    let Some(method) = properties.get("Method")? else {
        return Ok(None);
    };
    let text = method.text()?.to_ascii_uppercase();
    match text.as_str() {
        "ANY" | "X-AMAZON-APIGATEWAY-ANY-METHOD" => Ok(None),
        "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" => Ok(Some(text)),
        _ => Err(method.expected("an HTTP method or ANY")),
    }
}

fn queue(properties: &Cursor<'_>) -> Result<QueueMapping, Error> {
    let queue = super::queue::referred(&properties.require("Queue")?)?;
    // SQS gives a FIFO receiver ten messages at most, and Lambda gathers no more.
    let largest = if queue.ends_with(".fifo") { 10 } else { 10_000 };
    let concurrency = properties.section("ScalingConfig")?.get("MaximumConcurrency")?;
    Ok(QueueMapping {
        batch_size: properties.number_or("BatchSize", 1..=largest, 10)?,
        window: window(&queue, properties)?,
        partial_failures: partial_failures(properties)?,
        max_concurrency: concurrency.map(|limit| limit.number(2..=1000)).transpose()?,
        queue,
    })
}

fn window(queue: &str, properties: &Cursor<'_>) -> Result<Duration, Error> {
    let longest = if queue.ends_with(".fifo") { 0 } else { 300 };
    let seconds = properties.number_or("MaximumBatchingWindowInSeconds", 0..=longest, 0)?;
    Ok(Duration::from_secs(seconds.into()))
}

fn partial_failures(properties: &Cursor<'_>) -> Result<bool, Error> {
    let Some(types) = properties.get("FunctionResponseTypes")? else {
        return Ok(false);
    };
    for kind in types.items()? {
        if kind.text()? != "ReportBatchItemFailures" {
            return Err(kind.expected("ReportBatchItemFailures"));
        }
    }
    Ok(true)
}

fn schedule(name: &str, expression: &Cursor<'_>) -> Result<Schedule, Error> {
    let every =
        rate(&expression.text()?).ok_or_else(|| expression.expected("rate(n minutes), (n hours) or (n days)"))?;
    let name = name.to_owned();
    Ok(Schedule { name, every })
}

fn rate(expression: &str) -> Option<Duration> {
    let inner = expression.strip_prefix("rate(")?.strip_suffix(')')?;
    let (count, unit) = inner.split_once(' ')?;
    let count: u32 = count.parse().ok().filter(|count| *count > 0)?;
    let seconds = match unit {
        "minute" | "minutes" => 60,
        "hour" | "hours" => 3_600,
        "day" | "days" => 86_400,
        _ => return None,
    };
    Some(Duration::from_secs(seconds) * count)
}
