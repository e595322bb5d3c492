//! The SQS queues that carry tasks: attempts of deliveries, typing notices, and checks of time limits. A task contains
//! ids, but never message content.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use futures_util::future::{BoxFuture, join_all};

use crate::domain::delivery::Target;
use crate::domain::timeline_entry::TimelineEntry;
use crate::error::{Error, ErrorContext};
use crate::runtime::aws_failure::AwsFailure;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::runtime::{aws_config, config};
use crate::wire::queue_task::Task;

/// A FIFO queue of first attempts. Message groups ensure that a chat's tasks are handled in order. Each webhook has
/// message groups of its own.
#[derive(Clone)]
pub struct FifoQueue {
    queue: SqsQueue,
    /// The number of message groups per account. At most one task per group is in progress at a time, so this number
    /// limits how many of the account's first attempts run concurrently.
    groups_per_account: u64,
}

/// A standard queue of later attempts and other delayed tasks.
#[derive(Clone)]
pub struct RetryQueue(SqsQueue);

#[derive(Clone)]
struct SqsQueue {
    client: Client,
    url: String,
}

/// Declares one type for each queue, so that the signature of a handler shows which queues it uses.
macro_rules! queues {
    ($($(#[$doc:meta])* $name:ident($kind:ident, $url_variable:literal);)+) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(pub $kind);

        impl Dependency for $name {
            fn open(startup: &mut StartupContext) -> Self {
                Self($kind::open(startup, $url_variable))
            }
        }
    )+};
}

queues! {
    /// Carries the first attempts to deliver to integrators.
    ChannelQueue(FifoQueue, "CHANNEL_QUEUE_URL");
    ChannelRetryQueue(RetryQueue, "CHANNEL_RETRY_QUEUE_URL");
    BotQueue(FifoQueue, "BOT_QUEUE_URL");
    /// Also carries the tasks that check whether a bot has reacted within its time limit.
    BotRetryQueue(RetryQueue, "BOT_RETRY_QUEUE_URL");
    WebhookQueue(FifoQueue, "WEBHOOK_QUEUE_URL");
    WebhookRetryQueue(RetryQueue, "WEBHOOK_RETRY_QUEUE_URL");
    CallQueue(FifoQueue, "CALL_QUEUE_URL");
    /// Also carries the tasks that check the time limits of calls.
    CallRetryQueue(RetryQueue, "CALL_RETRY_QUEUE_URL");
}

#[derive(Clone, Copy)]
pub struct FirstAttemptQueues<'a> {
    pub channel: &'a ChannelQueue,
    pub bot: &'a BotQueue,
    pub webhook: &'a WebhookQueue,
    /// `None` in functions that never queue a call, such as the replay of deliveries.
    pub call: Option<&'a CallQueue>,
}

/// Queues the first attempts of stored notifications. Each notification goes to a different receiver, so the order of
/// the requests does not matter and they are sent concurrently. Errors are handled as in
/// [`FifoQueue::enqueue_or_leave_to_sweep`].
pub async fn enqueue_notifications(entries: &[TimelineEntry], to_bot: &BotQueue, to_webhook: &WebhookQueue) {
    let queue = |entry: &TimelineEntry| if entry.webhook_dispatch.is_some() { &to_webhook.0 } else { &to_bot.0 };
    join_all(entries.iter().map(|entry| queue(entry).enqueue_entry_or_leave_to_sweep(entry))).await;
}

/// Adds the first attempt of a delivery's current round to the queue for its kind of receiver. Does nothing if the
/// entry has no delivery or `queues` has no such queue.
pub async fn send_first_attempt(entry: &TimelineEntry, queues: FirstAttemptQueues<'_>) -> Result<(), Error> {
    match queue_of(entry, queues) {
        Some(queue) => queue.send_entry(entry).await,
        None => Ok(()),
    }
}

/// Like [`send_first_attempt`], but errors are handled as in [`FifoQueue::enqueue_or_leave_to_sweep`].
pub async fn enqueue_first_attempt(entry: &TimelineEntry, queues: FirstAttemptQueues<'_>) {
    if let Some(queue) = queue_of(entry, queues) {
        queue.enqueue_entry_or_leave_to_sweep(entry).await;
    }
}

fn queue_of<'a>(entry: &TimelineEntry, queues: FirstAttemptQueues<'a>) -> Option<&'a FifoQueue> {
    match entry.delivery.as_ref()?.target {
        Target::Channel => Some(&queues.channel.0),
        Target::Bot => Some(&queues.bot.0),
        Target::Webhook => Some(&queues.webhook.0),
        Target::Call => queues.call.map(|queue| &queue.0),
    }
}

impl WebhookQueue {
    /// Queues the first attempts of stored events. The queue keeps the order in which the tasks of a message group
    /// arrive, so the events of one webhook are queued one after another. Different webhooks are served concurrently.
    /// Errors are handled as in [`FifoQueue::enqueue_or_leave_to_sweep`].
    pub async fn enqueue_webhook_events(&self, events: &[TimelineEntry]) {
        join_all(events_by_webhook(events).into_iter().map(|events| self.enqueue_in_order(events))).await;
    }

    /// Queues events until an error occurs, so that no event overtakes one that could not be queued. The sweep queues
    /// the remaining events later.
    async fn enqueue_in_order(&self, events: Vec<&TimelineEntry>) {
        for event in events {
            if !self.0.enqueue_entry_or_leave_to_sweep(event).await {
                return;
            }
        }
    }
}

fn events_by_webhook(events: &[TimelineEntry]) -> Vec<Vec<&TimelineEntry>> {
    let mut by_webhook = BTreeMap::<_, Vec<_>>::new();
    for event in events {
        let webhook_id = event.webhook_dispatch.as_ref().map(|dispatch| &dispatch.webhook_id);
        by_webhook.entry(webhook_id).or_default().push(event);
    }
    by_webhook.into_values().collect()
}

impl FifoQueue {
    fn open(startup: &mut StartupContext, url_variable: &'static str) -> Self {
        Self { queue: SqsQueue::open(startup, url_variable), groups_per_account: config::first_attempts_per_account() }
    }

    /// Adds a task to the queue, after the earlier tasks of its message group.
    pub async fn send(&self, task: &Task) -> Result<(), Error> {
        let group_id = task.message_group(self.groups_per_account);
        let options = SendOptions { group_id, deduplication_id: Some(task.deduplication_id()), delay: Duration::ZERO };
        self.queue.send(task.to_json(), options).await
    }

    /// Queues the task of a stored delivery. An error is only logged, so that the caller's request succeeds. The sweep
    /// (the scheduled search for overdue deliveries) finds the pending delivery later.
    pub async fn enqueue_or_leave_to_sweep(&self, task: &Task) {
        log_unqueued(task, self.send(task).await);
    }

    /// Like [`enqueue_or_leave_to_sweep`](Self::enqueue_or_leave_to_sweep), but queues the first attempt of an entry.
    /// Does nothing if the entry has no delivery. Returns true unless an error occurred.
    pub async fn enqueue_entry_or_leave_to_sweep(&self, entry: &TimelineEntry) -> bool {
        let Some(task) = Task::first_attempt(entry) else { return true };
        let queued = self.send_entry(entry).await;
        let is_queued = queued.is_ok();
        log_unqueued(&task, queued);
        is_queued
    }

    async fn send_entry(&self, entry: &TimelineEntry) -> Result<(), Error> {
        let Some(task) = Task::first_attempt(entry) else { return Ok(()) };
        self.send(&task).await?;
        tracing::info!(message_id = entry.id, entry.account_id, entry.chat_id, entry.seq, "delivery queued");
        Ok(())
    }
}

impl RetryQueue {
    fn open(startup: &mut StartupContext, url_variable: &'static str) -> Self {
        Self(SqsQueue::open(startup, url_variable))
    }

    /// Queues a task with a delay. The delay is rounded to whole seconds.
    pub async fn send(&self, task: &Task, delay: Duration) -> Result<(), Error> {
        // The queue is a fair queue. Each account is a message group, so that the backlog of one account does not delay
        // the other accounts.
        let options = SendOptions { group_id: task.account_id().to_owned(), deduplication_id: None, delay };
        self.0.send(task.to_json(), options).await
    }
}

fn log_unqueued(task: &Task, result: Result<(), Error>) {
    if let Err(error) = result {
        tracing::warn!(
            context = error.context(),
            task = task.deduplication_id(),
            "delivery not queued, left to the sweep"
        );
    }
}

struct SendOptions {
    group_id: String,
    deduplication_id: Option<String>,
    delay: Duration,
}

impl SqsQueue {
    fn open(startup: &mut StartupContext, url_variable: &'static str) -> Self {
        let new_client = || Client::new(&aws_config::for_service(&startup.aws, "SQS"));
        let client = startup.sqs.get_or_insert_with(new_client).clone();
        Self { client, url: startup.environment.required(url_variable) }
    }

    /// Sends one message. The future is boxed so that the AWS SDK's types are compiled only once, in this crate,
    /// instead of in every function.
    fn send(&self, body: String, options: SendOptions) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let seconds = i32::try_from((options.delay.as_millis() + 500) / 1_000).unwrap_or(i32::MAX);
            let request = self.client.send_message().queue_url(&self.url).message_body(body);
            let request =
                request.message_group_id(options.group_id).set_message_deduplication_id(options.deduplication_id);
            // A FIFO queue has no delays for single messages, so the parameter is set only if there is a delay.
            let request = if seconds > 0 { request.delay_seconds(seconds) } else { request };
            request.send().await.map_err(|error| to_unavailable(&error))?;
            Ok(())
        })
    }
}

fn to_unavailable<E: ProvideErrorMetadata + std::fmt::Debug>(error: &SdkError<E>) -> Error {
    Error::Unavailable(ErrorContext::new(AwsFailure::new("sqs", error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::timestamp::Timestamp;
    use crate::domain::webhook::WebhookDispatch;
    use crate::domain::webhook_event::WebhookEvent;
    use crate::wire::sample_data;

    fn event(seq: u64, webhook_id: &str) -> TimelineEntry {
        let dispatch = WebhookDispatch {
            event: WebhookEvent::CallEvent,
            webhook_id: webhook_id.to_owned(),
            agent_id: None,
            assign_to: None,
            call: None,
            reports_rating: false,
        };
        TimelineEntry { seq, webhook_dispatch: Some(dispatch), ..sample_data::agent_message("id", Timestamp(0)) }
    }

    #[test]
    fn events_of_one_webhook_are_queued_in_order() {
        let events = [event(1, "b"), event(2, "a"), event(3, "b"), event(4, "a"), event(5, "b")];
        let numbers: Vec<Vec<u64>> = events_by_webhook(&events)
            .into_iter()
            .map(|events| events.iter().map(|event| event.seq).collect())
            .collect();
        assert_eq!(numbers, [vec![2, 4], vec![1, 3, 5]]);
    }
}
