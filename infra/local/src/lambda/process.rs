//! One process of a function, from its start to its end.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use super::mailbox::{Call, Errand, Mailbox, Registration};
use super::{Ended, Failure};

/// As on AWS, a process has ten seconds until it asks for work.
const INIT_TIMEOUT: Duration = Duration::from_secs(10);

/// A process that ended has its output read at once, unless a child of its own holds the pipes.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// A process that waits for work or works. Dropping it ends the process.
pub(super) struct Process {
    errands: mpsc::Sender<Errand>,
    mailbox: Arc<Mailbox>,
    /// Whether it has ever asked for work.
    ready: bool,
    /// `Some` once the process has ended.
    ended: watch::Receiver<Option<Ended>>,
    /// The supervisor hears when this is dropped.
    _alive: oneshot::Sender<()>,
}

/// What came of an invocation in one process.
pub(super) enum Outcome {
    /// The function answered; its process can take the next event.
    Answered(Result<Bytes, Failure>),
    /// The process ended before it saw the event, so another one can take it.
    Unseen,
    /// The invocation is lost, and the process with it.
    Lost(Failure),
}

impl Process {
    /// Takes charge of a child that was just started.
    pub fn new(
        supervisor: Supervisor,
        mailbox: Arc<Mailbox>,
        errands: mpsc::Sender<Errand>,
        kill: watch::Receiver<bool>,
    ) -> Self {
        let open = errands.clone();
        let (alive, dropped) = oneshot::channel();
        let (ended_sender, ended) = watch::channel(None);
        tokio::spawn(async move {
            supervisor.run(ended_sender, dropped, kill).await;
            // The mailbox stays open until the process has ended: one that is killed is not told that there is no more.
            drop(open);
        });
        Self { errands, mailbox, ready: false, ended, _alive: alive }
    }

    /// Waits until the process asks for work for the first time.
    pub async fn until_ready(&mut self) -> Result<(), Failure> {
        let (heard_sender, heard) = oneshot::channel();
        // When nobody can take it any more, the wait below says why.
        let _ = self.errands.send(Errand::Knock(heard_sender)).await;
        self.until_taken(heard).await?;
        self.ready = true;
        Ok(())
    }

    /// Has the process work on one event.
    pub async fn run(&mut self, event: Bytes, timeout: Duration) -> Outcome {
        // The request for work of one that was killed may still be open, and would take the event with it.
        if self.ended.borrow().is_some() {
            return Outcome::Unseen;
        }
        let (taken_sender, taken) = oneshot::channel();
        let (answer_sender, answer) = oneshot::channel();
        let call = Call { request_id: Uuid::now_v7().to_string(), event, taken: taken_sender, answer: answer_sender };
        if self.errands.send(Errand::Work(call)).await.is_err() {
            return Outcome::Unseen;
        }
        if let Err(failure) = self.until_taken(taken).await {
            return if self.ready { Outcome::Unseen } else { Outcome::Lost(failure) };
        }
        self.ready = true;
        self.until_answered(answer, timeout).await
    }

    async fn until_taken(&mut self, taken: oneshot::Receiver<()>) -> Result<(), Failure> {
        tokio::select! {
            biased;
            Ok(()) = taken => Ok(()),
            ended = Self::end(&mut self.ended) => {
                Err(self.mailbox.init_error().unwrap_or(Failure::InitCrashed(ended)))
            }
            () = tokio::time::sleep(INIT_TIMEOUT) => Err(Failure::InitTimedOut(INIT_TIMEOUT)),
        }
    }

    async fn until_answered(
        &mut self,
        answer: oneshot::Receiver<Result<Bytes, Failure>>,
        timeout: Duration,
    ) -> Outcome {
        tokio::select! {
            biased;
            answer = answer => match answer {
                Ok(answer) => Outcome::Answered(answer),
                Err(_) => Outcome::Lost(Failure::NoAnswer),
            },
            ended = Self::end(&mut self.ended) => Outcome::Lost(Failure::Crashed(ended)),
            () = tokio::time::sleep(timeout) => Outcome::Lost(Failure::TimedOut(timeout)),
        }
    }

    async fn end(ended: &mut watch::Receiver<Option<Ended>>) -> Ended {
        let how = match ended.wait_for(Option::is_some).await {
            Ok(ended) => (*ended).unwrap_or(Ended(None)),
            Err(_) => Ended(None),
        };
        // Its last words come before what is said of its end; then the supervisor is gone.
        while ended.changed().await.is_ok() {}
        how
    }
}

/// Owns the child process: waits for its end, or brings it about.
pub(super) struct Supervisor {
    pub child: Child,
    /// What passes its output on.
    pub output: JoinSet<()>,
    pub registration: Registration,
}

impl Supervisor {
    async fn run(
        mut self,
        ended: watch::Sender<Option<Ended>>,
        dropped: oneshot::Receiver<()>,
        mut kill: watch::Receiver<bool>,
    ) {
        let status = tokio::select! {
            status = self.child.wait() => status.ok(),
            () = unwanted(dropped, &mut kill) => self.kill().await,
        };
        // First out of the registry: who hears of the end must not find the process there.
        drop(self.registration);
        ended.send_replace(Some(Ended(status)));
        let _ = timeout(SHUTDOWN_TIMEOUT, self.output.join_all()).await;
    }

    async fn kill(&mut self) -> Option<std::process::ExitStatus> {
        // An error means that the process is gone already.
        let _ = self.child.start_kill();
        self.child.wait().await.ok()
    }
}

/// Waits until nobody needs the process any more, or the host ends.
async fn unwanted(dropped: oneshot::Receiver<()>, kill: &mut watch::Receiver<bool>) {
    tokio::select! {
        _ = dropped => {}
        _ = kill.wait_for(|kill| *kill) => {}
    }
}
