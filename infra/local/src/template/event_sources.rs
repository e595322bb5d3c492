//! Reads a function's `Events`: HTTP API routes, queues, streams and schedules.

use std::time::Duration;

use super::error::{Error, ErrorKind, ValuePath};
use super::evaluated_value::EvaluatedValue;
use super::queue_mapping::{self, QueueMapping};
use super::stream_mapping::{self, StreamMapping};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The method is in uppercase. `None` stands for `ANY`.
    pub method: Option<String>,
    /// The path as in the template, with `{name}` and `{name+}` parameters. `$default` matches all requests that no
    /// other route matches.
    pub path: String,
    /// How long the gateway waits for the function.
    pub timeout: Duration,
    pub line: usize,
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
    Stream(StreamMapping),
    Schedule(Schedule),
}

/// Returns `None` if the event is disabled.
pub(super) fn read(name: &str, event: &EvaluatedValue<'_>) -> Result<Option<EventSource>, Error> {
    let event_type = event.require("Type")?;
    let properties = event.get_or_empty("Properties")?;
    let schedule_with = |key| Ok(Some(EventSource::Schedule(schedule(name, &properties.require(key)?)?)));
    match event_type.text()?.as_str() {
        "HttpApi" => Ok(Some(EventSource::Route(route(&properties)?))),
        "SQS" if is_enabled(&properties)? => Ok(Some(EventSource::Queue(queue_mapping::read(&properties)?))),
        "DynamoDB" if is_enabled(&properties)? => Ok(Some(EventSource::Stream(stream_mapping::read(&properties)?))),
        "Schedule" if is_enabled(&properties)? => schedule_with("Schedule"),
        "ScheduleV2" if is_enabled(&properties)? => schedule_with("ScheduleExpression"),
        "SQS" | "DynamoDB" | "Schedule" | "ScheduleV2" => Ok(None),
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

/// Returns `None` if the route matches any method.
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
