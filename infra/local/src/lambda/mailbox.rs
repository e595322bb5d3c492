//! Passes events to one function process and passes its responses back. `process.rs` puts commands into the mailbox.
//! The Runtime API takes them out when the process requests an event.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};

use super::error::InvocationError;

pub(super) struct Invocation {
    pub request_id: String,
    pub event: Bytes,
    /// Notified when the process receives the event. The function's timeout starts at that time.
    pub on_received: oneshot::Sender<()>,
    pub on_response: oneshot::Sender<Result<Bytes, InvocationError>>,
}

pub(super) enum ProcessCommand {
    Invoke(Invocation),
    /// Asks for a notification as soon as the process requests an event, which shows that its initialization is
    /// complete.
    AwaitReady(oneshot::Sender<()>),
}

/// The invocation that the process is handling.
struct PendingResponse {
    request_id: String,
    on_response: oneshot::Sender<Result<Bytes, InvocationError>>,
}

pub(super) struct Mailbox {
    pub function_arn: String,
    pub timeout: Duration,
    commands: AsyncMutex<mpsc::Receiver<ProcessCommand>>,
    pending: Mutex<Option<PendingResponse>>,
    init_error: Mutex<Option<InvocationError>>,
}

/// The process is unknown, the request id does not belong to the invocation that the process is handling, or nobody
/// waits for the response any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownRequestId;

impl Mailbox {
    pub fn new(function_arn: String, timeout: Duration) -> (Arc<Self>, mpsc::Sender<ProcessCommand>) {
        let (sender, commands) = mpsc::channel(1);
        let mailbox = Self {
            function_arn,
            timeout,
            commands: AsyncMutex::new(commands),
            pending: Mutex::default(),
            init_error: Mutex::default(),
        };
        (Arc::new(mailbox), sender)
    }

    /// Waits for the next event and returns its request id and payload. Returns `None` if no more events will come.
    pub async fn next_event(&self) -> Option<(String, Bytes)> {
        loop {
            let invocation = self.next_invocation().await?;
            // An error means that the host no longer waits for this process to receive the event.
            if invocation.on_received.send(()).is_ok() {
                let Invocation { request_id, event, on_response, .. } = invocation;
                // If the previous invocation has no response yet, this assignment drops the sender of its response, so
                // that its caller gets `NoResponse`.
                *lock(&self.pending) = Some(PendingResponse { request_id: request_id.clone(), on_response });
                return Some((request_id, event));
            }
        }
    }

    async fn next_invocation(&self) -> Option<Invocation> {
        let mut commands = self.commands.lock().await;
        loop {
            match commands.recv().await? {
                ProcessCommand::Invoke(invocation) => return Some(invocation),
                // An error means that the caller stopped waiting.
                ProcessCommand::AwaitReady(on_ready) => drop(on_ready.send(())),
            }
        }
    }

    pub fn respond(&self, request_id: &str, response: Result<Bytes, InvocationError>) -> Result<(), UnknownRequestId> {
        let pending = lock(&self.pending).take_if(|pending| pending.request_id == request_id);
        let pending = pending.ok_or(UnknownRequestId)?;
        pending.on_response.send(response).map_err(|_| UnknownRequestId)
    }

    pub fn set_init_error(&self, error: InvocationError) {
        *lock(&self.init_error) = Some(error);
    }

    pub fn take_init_error(&self) -> Option<InvocationError> {
        lock(&self.init_error).take()
    }
}

/// Locks a mutex. Ignores a poisoned lock: each critical section only sets or takes the value, so a panic cannot leave
/// the value in an inconsistent state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn abandoned_events_are_skipped() {
        let (mailbox, commands) = Mailbox::new(String::new(), Duration::ZERO);
        let invoke = |request_id: &str| {
            let ((on_received, received), (on_response, _)) = (oneshot::channel(), oneshot::channel());
            let request_id = request_id.to_owned();
            let invocation = Invocation { request_id, event: Bytes::new(), on_received, on_response };
            (ProcessCommand::Invoke(invocation), received)
        };
        let ((abandoned, dropped_receiver), (awaited, _receiver)) = (invoke("abandoned"), invoke("awaited"));
        drop(dropped_receiver);
        commands.send(abandoned).await.ok().unwrap();
        let (next, _) = tokio::join!(mailbox.next_event(), commands.send(awaited));
        assert_eq!(next.unwrap().0, "awaited");
    }
}
