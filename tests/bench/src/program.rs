//! Runs one process of a program that uses Lambda's Runtime API, and reads the process's processor and memory usage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::error::Error;
use crate::runtime_api::{RuntimeApi, Signal};

/// The maximum time that a process may take to start or to respond to an event.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// The unit of the processor times in `/proc` is a tick. Linux presents 100 ticks per second to all programs.
const TICKS_PER_SECOND: f64 = 100.0;

#[derive(Clone)]
pub(crate) struct Program {
    pub label: &'static str,
    command: PathBuf,
    arguments: Vec<PathBuf>,
    variables: Vec<(&'static str, String)>,
}

/// Dropping this value kills the process.
pub(crate) struct Process {
    child: Child,
    started: Instant,
    runtime_api: RuntimeApi,
}

impl Program {
    pub fn new(label: &'static str, command: impl Into<PathBuf>) -> Self {
        Self { label, command: command.into(), arguments: Vec::new(), variables: Vec::new() }
    }

    pub fn with_argument(mut self, argument: impl Into<PathBuf>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub fn with_variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    pub async fn start(&self, tables_url: &str) -> Result<Process, Error> {
        let runtime_api = RuntimeApi::start().await?;
        let mut command = Command::new(&self.command);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(template_variables()?)
            .envs(environment(tables_url))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("AWS_LAMBDA_RUNTIME_API", runtime_api.address.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        let started = Instant::now();
        let child = command.spawn().map_err(|error| Error::File(self.command.display().to_string(), error))?;
        Ok(Process { child, started, runtime_api })
    }
}

/// The variables that `template.yaml` sets for every function, with placeholders for the values. The measured
/// invocations send to no queue.
const TEMPLATE_VARIABLES: &str = include_str!("../../events/env.json");

fn template_variables() -> Result<BTreeMap<String, String>, Error> {
    let by_section: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(TEMPLATE_VARIABLES)?;
    Ok(by_section.into_values().flatten().collect())
}

/// Returns the other environment variables of a process. Most of them have the names that Lambda uses.
fn environment(tables_url: &str) -> [(&'static str, &str); 17] {
    [
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL_DYNAMODB", tables_url),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
        ("AWS_LAMBDA_FUNCTION_NAME", "channel-receive-message"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_LOG_LEVEL", "INFO"),
        ("AWS_REGION", "us-east-1"),
        // Suppresses the SDK's warning that it requires a newer version of Node.js from 2027.
        ("AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED", "true"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_SESSION_TOKEN", "local"),
        ("CHATS_TABLE", "Chats"),
        ("DIRECTORY_TABLE", "Directory"),
        ("LANG", "en_US.UTF-8"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("STACK_NAME", "bench"),
        ("TZ", ":UTC"),
    ]
}

impl Process {
    /// Waits until the process asks for its first or next event. Returns the time from the process's start until then.
    pub async fn wait_until_ready(&mut self) -> Result<Duration, Error> {
        match self.next_signal().await? {
            Signal::RequestedEvent(at) => Ok(at - self.started),
            Signal::Answered(..) | Signal::Failed(_) => Err(Error::unexpected("an answer without an event")),
        }
    }

    /// Passes an event to the waiting process and returns the time until its response.
    pub async fn invoke(&mut self, event: String) -> Result<Duration, Error> {
        let sent = Instant::now();
        self.runtime_api.send(event).await?;
        Ok(self.answered().await? - sent)
    }

    /// Passes the first event to a process that is starting. Returns two durations, both measured from the process's
    /// start: until it asked for the event, and until it responded.
    pub async fn first_answer(&mut self, event: String) -> Result<(Duration, Duration), Error> {
        self.runtime_api.send(event).await?;
        let ready = self.wait_until_ready().await?;
        Ok((ready, self.answered().await? - self.started))
    }

    async fn answered(&mut self) -> Result<Instant, Error> {
        match self.next_signal().await? {
            Signal::Answered(at, body) if is_ok(&body) => Ok(at),
            Signal::Answered(_, body) | Signal::Failed(body) => {
                Err(Error::unexpected(format!("the function answered {}", String::from_utf8_lossy(&body))))
            }
            Signal::RequestedEvent(_) => Err(Error::unexpected("the function did not answer")),
        }
    }

    async fn next_signal(&mut self) -> Result<Signal, Error> {
        tokio::select! {
            signal = timeout(ANSWER_TIMEOUT, self.runtime_api.next_signal()) => {
                signal.unwrap_or_else(|_| Err(Error::unexpected("the process does not answer")))
            }
            status = self.child.wait() => Err(Error::unexpected(format!("the process ended: {}", status?))),
        }
    }

    /// Returns the processor time of all threads since the process started.
    pub fn cpu_time(&self) -> Result<Duration, Error> {
        let stat = self.read("stat")?;
        // The second field, the name of the program, can contain spaces.
        let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' ').collect::<Vec<_>>());
        let ticks = |index: usize| fields.as_ref()?.get(index)?.parse::<u32>().ok();
        let total = ticks(11).zip(ticks(12)).map(|(user, system)| f64::from(user) + f64::from(system));
        let total = total.ok_or_else(|| Error::unexpected("/proc has no processor times"))?;
        Ok(Duration::from_secs_f64(total / TICKS_PER_SECOND))
    }

    /// Returns the process's peak memory use so far. This is the resident set, including mapped files.
    pub fn peak_memory_mb(&self) -> Result<f64, Error> {
        let status = self.read("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        Ok(kilobytes.ok_or_else(|| Error::unexpected("/proc has no peak of memory"))? * 1024.0 / 1e6)
    }

    fn read(&self, file: &str) -> Result<String, Error> {
        let path = Path::new("/proc").join(self.child.id().unwrap_or_default().to_string()).join(file);
        std::fs::read_to_string(&path).map_err(|error| Error::File(path.display().to_string(), error))
    }

    /// Kills the process and waits until it has ended.
    pub async fn stop(mut self) -> Result<(), Error> {
        Ok(self.child.kill().await?)
    }
}

/// Whether a function returned an HTTP response with status 200.
fn is_ok(body: &[u8]) -> bool {
    let response: Value = serde_json::from_slice(body).unwrap_or_default();
    response.get("statusCode").is_some_and(|status| status == 200)
}
