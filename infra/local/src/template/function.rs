//! `AWS::Serverless::Function`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::cursor::Cursor;
use super::error::{Error, Place, Problem};
use super::events::{self, QueueMapping, Route, Schedule, Trigger};
use super::policy::{self, Roles};
use crate::permission::Permission;

/// A function, and everything that calls it.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name in the template, such as `DeliverChannel`.
    pub logical_id: String,
    /// The last part of `CodeUri`, which is the name of its binary and of the function on this host.
    pub name: String,
    /// Line in the template.
    pub line: usize,
    /// `Handler`, which no function of a custom runtime needs.
    pub handler: String,
    /// How long one invocation may take.
    pub timeout: Duration,
    /// In MB; told to the function, not enforced.
    pub memory: u32,
    /// How many invocations run at once; further ones wait.
    pub reserved_concurrency: Option<u32>,
    /// `Environment.Variables`, evaluated.
    pub environment: BTreeMap<String, String>,
    /// `LoggingConfig`.
    pub logging: Logging,
    /// Its routes in the HTTP API.
    pub routes: Vec<Route>,
    /// The queues that feed it.
    pub queues: Vec<QueueMapping>,
    /// The clocks that call it.
    pub schedules: Vec<Schedule>,
    /// What its role allows.
    pub permissions: Vec<Permission>,
}

/// `LoggingConfig` of a function.
#[derive(Debug, Clone, Default)]
pub struct Logging {
    /// `LogFormat`.
    pub format: Option<String>,
    /// `ApplicationLogLevel`.
    pub level: Option<String>,
    /// `LogGroup`.
    pub group: Option<String>,
}

impl Function {
    pub(super) fn duplicate_binary(&self, owner: &str) -> Error {
        let place = Place::default().inner(&self.logical_id).inner("CodeUri");
        let problem = Problem::DuplicateBinary { binary: self.name.clone(), owner: owner.to_owned() };
        place.error(self.line, problem)
    }
}

pub(super) fn read(logical_id: &str, properties: &Cursor<'_>, roles: &Roles) -> Result<Function, Error> {
    let code = properties.require("CodeUri")?;
    let mut function = Function {
        logical_id: logical_id.to_owned(),
        name: binary(&code)?,
        line: code.line(),
        handler: text(properties, "Handler")?.unwrap_or_else(|| "bootstrap".to_owned()),
        timeout: Duration::from_secs(properties.number_or("Timeout", 1..=900, 3)?.into()),
        memory: properties.number_or("MemorySize", 128..=10_240, 128)?,
        reserved_concurrency: concurrency(properties)?,
        environment: environment(properties)?,
        logging: logging(&properties.section("LoggingConfig")?)?,
        routes: Vec::new(),
        queues: Vec::new(),
        schedules: Vec::new(),
        permissions: Vec::new(),
    };
    for (name, event) in properties.section("Events")?.entries()? {
        match events::read(&name, &event)? {
            Some(Trigger::Route(route)) => function.routes.push(route),
            Some(Trigger::Queue(queue)) => function.queues.push(queue),
            Some(Trigger::Schedule(schedule)) => function.schedules.push(schedule),
            None => {}
        }
    }
    function.permissions = policy::of_function(properties, &function.queues, roles)?;
    Ok(function)
}

fn binary(code: &Cursor<'_>) -> Result<String, Error> {
    let uri = code.text()?;
    let last = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if last.is_empty() || last == "." {
        return Err(code.expected("target/lambda/<binary>/"));
    }
    Ok(last.to_owned())
}

fn concurrency(properties: &Cursor<'_>) -> Result<Option<u32>, Error> {
    match properties.get("ReservedConcurrentExecutions")? {
        Some(reserved) => reserved.number(1..=1000).map(Some),
        None => Ok(None),
    }
}

fn environment(properties: &Cursor<'_>) -> Result<BTreeMap<String, String>, Error> {
    let variables = properties.section("Environment")?.section("Variables")?.entries()?;
    variables.into_iter().map(|(name, value)| Ok((name, value.text()?))).collect()
}

fn logging(config: &Cursor<'_>) -> Result<Logging, Error> {
    Ok(Logging {
        format: text(config, "LogFormat")?,
        level: text(config, "ApplicationLogLevel")?,
        group: text(config, "LogGroup")?,
    })
}

fn text(properties: &Cursor<'_>, key: &str) -> Result<Option<String>, Error> {
    properties.get(key)?.map(|cursor| cursor.text()).transpose()
}
