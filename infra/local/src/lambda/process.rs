//! Runs one of a function's processes from start to exit. A process handles one event at a time.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use super::error::{InvocationError, ProcessExit};
use super::mailbox::{Invocation, Mailbox, ProcessCommand};
use super::process_registry::Registration;

/// Lambda's time limit for the initialization of a process, from its start to its first request for an event. A process
/// that is already initialized has the same time to receive an event.
const INIT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to keep reading the output of a process after its exit. The output ends at once unless a child of the
/// process keeps the pipes open.
const OUTPUT_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// A process that is starting, idle or handling an event. Dropping this value kills the process.
pub(super) struct Process {
    commands: mpsc::Sender<ProcessCommand>,
    mailbox: Arc<Mailbox>,
    /// Whether the process has ever requested an event.
    is_initialized: bool,
    /// How the process exited. `None` while it is running.
    exit: watch::Receiver<Option<ProcessExit>>,
    /// Dropping this makes the supervisor kill the process.
    _owner: oneshot::Sender<()>,
}

pub(super) enum InvocationOutcome {
    /// The function responded with a result or an error. The process can handle another event.
    Completed(Result<Bytes, InvocationError>),
    /// The process exited before it received the event, or did not receive it in time, so another process can handle
    /// the event.
    NotDelivered,
    /// The process did not initialize, or it failed after it had received the event. It cannot be used again.
    Failed(InvocationError),
}

impl Process {
    pub fn new(
        supervisor: Supervisor,
        mailbox: Arc<Mailbox>,
        commands: mpsc::Sender<ProcessCommand>,
        kill: watch::Receiver<bool>,
    ) -> Self {
        let mailbox_guard = commands.clone();
        let (owner, owner_dropped) = oneshot::channel();
        let (exit_sender, exit) = watch::channel(None);
        tokio::spawn(async move {
            supervisor.run(exit_sender, owner_dropped, kill).await;
            // The guard keeps the mailbox open until the process has exited. Otherwise, the Runtime API would respond
            // to the pending request of a process that is being killed, and the function would log an error.
            drop(mailbox_guard);
        });
        Self { commands, mailbox, is_initialized: false, exit, _owner: owner }
    }

    /// Waits until the process requests its first event.
    pub async fn wait_until_ready(&mut self) -> Result<(), InvocationError> {
        let (on_ready, ready) = oneshot::channel();
        // If the mailbox is closed, this fails, and the wait below returns the reason.
        let _ = self.commands.send(ProcessCommand::AwaitReady(on_ready)).await;
        self.wait_until_received(ready).await?;
        self.is_initialized = true;
        Ok(())
    }

    /// Passes the event to the process and waits for the response. `timeout` starts when the process receives the
    /// event.
    pub async fn invoke(&mut self, event: Bytes, timeout: Duration) -> InvocationOutcome {
        // Send no event to a process that has exited. The Runtime API may still have an open request from the process,
        // which would take the event, and the event would be lost.
        if self.exit.borrow().is_some() {
            return InvocationOutcome::NotDelivered;
        }
        let (on_received, received) = oneshot::channel();
        let (on_response, response) = oneshot::channel();
        let invocation = Invocation { request_id: Uuid::now_v7().to_string(), event, on_received, on_response };
        if self.commands.send(ProcessCommand::Invoke(invocation)).await.is_err() {
            return InvocationOutcome::NotDelivered;
        }
        if let Err(error) = self.wait_until_received(received).await {
            let was_initialized = self.is_initialized;
            return if was_initialized { InvocationOutcome::NotDelivered } else { InvocationOutcome::Failed(error) };
        }
        self.is_initialized = true;
        self.wait_for_response(response, timeout).await
    }

    async fn wait_until_received(&mut self, received: oneshot::Receiver<()>) -> Result<(), InvocationError> {
        tokio::select! {
            biased;
            Ok(()) = received => Ok(()),
            exit = Self::wait_for_exit(&mut self.exit) => {
                Err(self.mailbox.take_init_error().unwrap_or(InvocationError::InitCrashed(exit)))
            }
            () = tokio::time::sleep(INIT_TIMEOUT) => Err(InvocationError::InitTimedOut(INIT_TIMEOUT)),
        }
    }

    async fn wait_for_response(
        &mut self,
        response: oneshot::Receiver<Result<Bytes, InvocationError>>,
        timeout: Duration,
    ) -> InvocationOutcome {
        tokio::select! {
            biased;
            response = response => match response {
                Ok(response) => InvocationOutcome::Completed(response),
                Err(_) => InvocationOutcome::Failed(InvocationError::NoResponse),
            },
            exit = Self::wait_for_exit(&mut self.exit) => InvocationOutcome::Failed(InvocationError::Crashed(exit)),
            () = tokio::time::sleep(timeout) => InvocationOutcome::Failed(InvocationError::TimedOut(timeout)),
        }
    }

    async fn wait_for_exit(exit: &mut watch::Receiver<Option<ProcessExit>>) -> ProcessExit {
        let status = match exit.wait_for(Option::is_some).await {
            Ok(status) => (*status).unwrap_or(ProcessExit(None)),
            Err(_) => ProcessExit(None),
        };
        // The supervisor drops its sender after the output has been forwarded, so the process's last lines are logged
        // before the error about its exit.
        while exit.changed().await.is_ok() {}
        status
    }
}

/// Owns the child process, and waits for its exit or kills it.
pub(super) struct Supervisor {
    pub child: Child,
    /// The tasks that forward the process's output to the log.
    pub output: JoinSet<()>,
    pub registration: Registration,
}

impl Supervisor {
    async fn run(
        mut self,
        exit: watch::Sender<Option<ProcessExit>>,
        owner_dropped: oneshot::Receiver<()>,
        mut kill: watch::Receiver<bool>,
    ) {
        let status = tokio::select! {
            status = self.child.wait() => status.ok(),
            () = wait_for_kill(owner_dropped, &mut kill) => self.kill().await,
        };
        // The process is unregistered before its exit is published, so that a caller that has seen the exit no longer
        // finds the process.
        drop(self.registration);
        exit.send_replace(Some(ProcessExit(status)));
        let _ = timeout(OUTPUT_DRAIN_TIMEOUT, self.output.join_all()).await;
    }

    async fn kill(&mut self) -> Option<std::process::ExitStatus> {
        // An error means that the process has already exited.
        let _ = self.child.start_kill();
        self.child.wait().await.ok()
    }
}

/// Returns when the [`Process`] is dropped or the host kills all processes.
async fn wait_for_kill(owner_dropped: oneshot::Receiver<()>, kill: &mut watch::Receiver<bool>) {
    tokio::select! {
        _ = owner_dropped => {}
        _ = kill.wait_for(|kill| *kill) => {}
    }
}
