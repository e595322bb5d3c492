//! Hands work to a process and takes its answer. The invoking side holds one end of each channel, the
//! Runtime API the other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use uuid::Uuid;

use super::Failure;

/// An event on its way to a process.
pub(super) struct Call {
    pub request_id: String,
    pub event: Bytes,
    /// Told when the process takes the event: its time-out starts.
    pub taken: oneshot::Sender<()>,
    pub answer: oneshot::Sender<Result<Bytes, Failure>>,
}

/// What a process is sent.
pub(super) enum Errand {
    Work(Call),
    /// Told when the process asks for work: it has started.
    Knock(oneshot::Sender<()>),
}

/// An event that a process works on.
struct Running {
    request_id: String,
    answer: oneshot::Sender<Result<Bytes, Failure>>,
}

/// The Runtime API's side of one process.
pub(super) struct Mailbox {
    pub function_arn: String,
    pub timeout: Duration,
    errands: AsyncMutex<mpsc::Receiver<Errand>>,
    running: Mutex<Option<Running>>,
    init_error: Mutex<Option<Failure>>,
}

/// What the Runtime API refuses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotRunning;

impl Mailbox {
    pub fn new(function_arn: String, timeout: Duration) -> (Arc<Self>, mpsc::Sender<Errand>) {
        let (sender, errands) = mpsc::channel(1);
        let mailbox = Self {
            function_arn,
            timeout,
            errands: AsyncMutex::new(errands),
            running: Mutex::default(),
            init_error: Mutex::default(),
        };
        (Arc::new(mailbox), sender)
    }

    /// Waits for an event: its request id and payload. `None` when there will be no more.
    pub async fn next(&self) -> Option<(String, Bytes)> {
        loop {
            let call = self.next_call().await?;
            // Otherwise the host gave up on this process, which is about to end: another one has the event.
            if call.taken.send(()).is_ok() {
                // Whatever ran before was not answered; dropping its sender says so.
                *lock(&self.running) = Some(Running { request_id: call.request_id.clone(), answer: call.answer });
                return Some((call.request_id, call.event));
            }
        }
    }

    async fn next_call(&self) -> Option<Call> {
        let mut errands = self.errands.lock().await;
        loop {
            match errands.recv().await? {
                Errand::Work(call) => return Some(call),
                // Whoever knocked may have stopped waiting.
                Errand::Knock(heard) => drop(heard.send(())),
            }
        }
    }

    pub fn answer(&self, request_id: &str, answer: Result<Bytes, Failure>) -> Result<(), NotRunning> {
        let mut running = lock(&self.running);
        let answered = running.take_if(|running| running.request_id == request_id);
        let answered = answered.ok_or(NotRunning)?;
        answered.answer.send(answer).map_err(|_| NotRunning)
    }

    pub fn fail_init(&self, failure: Failure) {
        *lock(&self.init_error) = Some(failure);
    }

    pub fn init_error(&self) -> Option<Failure> {
        lock(&self.init_error).take()
    }
}

/// All living processes.
#[derive(Default)]
pub(super) struct Registry(Mutex<BTreeMap<Uuid, Entry>>);

struct Entry {
    function: String,
    /// None until the process was started.
    pid: Option<u32>,
    mailbox: Arc<Mailbox>,
}

/// A process in the registry; dropping this takes it out.
pub(super) struct Registration {
    id: Uuid,
    registry: Arc<Registry>,
}

impl Registry {
    pub fn register(self: &Arc<Self>, id: Uuid, function: &str, mailbox: Arc<Mailbox>) -> Registration {
        let entry = Entry { function: function.to_owned(), pid: None, mailbox };
        lock(&self.0).insert(id, entry);
        Registration { id, registry: Arc::clone(self) }
    }

    pub fn mailbox(&self, id: Uuid) -> Option<Arc<Mailbox>> {
        let entries = lock(&self.0);
        entries.get(&id).map(|entry| Arc::clone(&entry.mailbox))
    }

    pub fn processes(&self) -> Vec<(String, u32)> {
        let entries = lock(&self.0);
        entries.values().filter_map(|entry| Some((entry.function.clone(), entry.pid?))).collect()
    }
}

impl Registration {
    /// The process lives, with that number.
    pub fn started(&self, pid: u32) {
        if let Some(entry) = lock(&self.registry.0).get_mut(&self.id) {
            entry.pid = Some(pid);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        lock(&self.registry.0).remove(&self.id);
    }
}

/// Nothing is left half-done under these locks, so a panic elsewhere does no harm.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_event_that_nobody_waits_for_any_more_is_passed_over() {
        let (mailbox, errands) = Mailbox::new(String::new(), Duration::ZERO);
        let work = |request_id: &str| {
            let ((taken, is_taken), (answer, _)) = (oneshot::channel(), oneshot::channel());
            let call = Call { request_id: request_id.to_owned(), event: Bytes::new(), taken, answer };
            (Errand::Work(call), is_taken)
        };
        let ((given_up, nobody), (wanted, _somebody)) = (work("given up"), work("wanted"));
        drop(nobody);
        errands.send(given_up).await.ok().unwrap();
        let (next, _) = tokio::join!(mailbox.next(), errands.send(wanted));
        assert_eq!(next.unwrap().0, "wanted");
    }
}
