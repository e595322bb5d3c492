//! Starts one function's processes and forwards their output to the log.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::environment;
use super::error::InvocationError;
use super::launch_context::LaunchContext;
use super::mailbox::Mailbox;
use super::process::{Process, Supervisor};
use super::process_group::ProcessGroup;
use super::process_registry::ProcessRegistry;
use crate::aws::arn::function_arn;
use crate::aws::service_endpoints::ServiceEndpoints;
use crate::faults::Faults;
use crate::log::LogSink;
use crate::template::Function;

pub(super) struct Launcher {
    function: String,
    timeout: Duration,
    binary: PathBuf,
    environment: Vec<(String, String)>,
    endpoints: ServiceEndpoints,
    log: LogSink,
    registry: Arc<ProcessRegistry>,
    kill: Arc<watch::Sender<bool>>,
    group: Arc<ProcessGroup>,
    faults: Faults,
}

impl Launcher {
    pub fn new(
        function: &Function,
        context: &LaunchContext,
        registry: Arc<ProcessRegistry>,
        kill: Arc<watch::Sender<bool>>,
        group: Arc<ProcessGroup>,
    ) -> Self {
        Self {
            function: function.name.clone(),
            timeout: function.timeout,
            binary: context.binaries.join(&function.name),
            environment: environment::function_variables(function, context),
            endpoints: context.endpoints.clone(),
            log: context.log.clone(),
            registry,
            kill,
            group,
            faults: context.faults.clone(),
        }
    }

    pub fn start(&self) -> Result<Process, InvocationError> {
        let id = Uuid::now_v7();
        let (mailbox, commands) = Mailbox::new(function_arn(&self.function), self.timeout);
        // The process is registered before `spawn` is called, because the new process might call the Runtime API before
        // `spawn` returns.
        let registration = self.registry.register(id, &self.function, Arc::clone(&mailbox));
        let mut child = self.spawn(id).map_err(|error| InvocationError::SpawnFailed(error.to_string()))?;
        registration.set_pid(child.id().unwrap_or_default());
        let mut output = JoinSet::new();
        output.spawn(self.forward_output(child.stdout.take()));
        output.spawn(self.forward_output(child.stderr.take()));
        let supervisor = Supervisor { child, output, registration };
        Ok(Process::new(supervisor, mailbox, commands, self.kill.subscribe()))
    }

    fn spawn(&self, id: Uuid) -> std::io::Result<Child> {
        Command::new(&self.binary)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(environment::process_variables(&self.endpoints, id))
            .envs(environment::clock_error_variable(&self.faults))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // The process does not belong to the terminal's process group, so it does not receive Ctrl-C, and the host
            // can let running invocations finish.
            .process_group(self.group.id())
            .kill_on_drop(true)
            .spawn()
    }

    fn forward_output<P: AsyncRead + Unpin + Send + 'static>(
        &self,
        pipe: Option<P>,
    ) -> impl Future<Output = ()> + use<P> {
        let (log, function) = (self.log.clone(), self.function.clone());
        async move {
            let Some(pipe) = pipe else { return };
            let mut pipe = BufReader::new(pipe);
            let mut line = Vec::new();
            while let Ok(1..) = pipe.read_until(b'\n', &mut line).await {
                log.line(&function, String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
                line.clear();
            }
        }
    }
}
