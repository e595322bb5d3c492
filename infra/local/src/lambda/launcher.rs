//! Starts processes of one function.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::group::ProcessGroup;
use super::mailbox::{Mailbox, Registry};
use super::process::{Process, Supervisor};
use super::{Failure, Setup, environment};
use crate::endpoints::Endpoints;
use crate::identity::function_arn;
use crate::log::LogSink;
use crate::template::Function;

/// Everything it takes to start a process of one function.
pub(super) struct Launch {
    function: String,
    timeout: Duration,
    binary: PathBuf,
    environment: Vec<(String, String)>,
    endpoints: Endpoints,
    log: LogSink,
    registry: Arc<Registry>,
    kill: Arc<watch::Sender<bool>>,
    group: Arc<ProcessGroup>,
}

impl Launch {
    pub fn new(
        function: &Function,
        setup: &Setup,
        registry: Arc<Registry>,
        kill: Arc<watch::Sender<bool>>,
        group: Arc<ProcessGroup>,
    ) -> Self {
        Self {
            function: function.name.clone(),
            timeout: function.timeout,
            binary: setup.binaries.join(&function.name),
            environment: environment::of_function(function, &setup.binaries, &setup.endpoints),
            endpoints: setup.endpoints.clone(),
            log: setup.log.clone(),
            registry,
            kill,
            group,
        }
    }

    pub fn start(&self) -> Result<Process, Failure> {
        let id = Uuid::now_v7();
        let (mailbox, errands) = Mailbox::new(function_arn(&self.function), self.timeout);
        // In the registry before it lives: it may ask for work before we run again.
        let registration = self.registry.register(id, &self.function, Arc::clone(&mailbox));
        let mut child = self.spawn(id).map_err(|error| Failure::NotStarted(error.to_string()))?;
        registration.started(child.id().unwrap_or_default());
        let mut output = JoinSet::new();
        output.spawn(self.forward(child.stdout.take()));
        output.spawn(self.forward(child.stderr.take()));
        let supervisor = Supervisor { child, output, registration };
        Ok(Process::new(supervisor, mailbox, errands, self.kill.subscribe()))
    }

    fn spawn(&self, id: Uuid) -> std::io::Result<Child> {
        Command::new(&self.binary)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(environment::of_process(&self.endpoints, id))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Also keeps Ctrl-C in the terminal from them: the host lets them finish.
            .process_group(self.group.id())
            .kill_on_drop(true)
            .spawn()
    }

    /// Passes the lines of one pipe on until the process closes it.
    fn forward<P: AsyncRead + Unpin + Send + 'static>(&self, pipe: Option<P>) -> impl Future<Output = ()> + use<P> {
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
