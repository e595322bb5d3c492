//! The SQS queues that carry delivery tasks. A task contains ids, but never message content.

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use futures_util::future::{BoxFuture, join_all};

use crate::domain::delivery::Target;
use crate::domain::timeline_entry::TimelineEntry;
use crate::error::{Error, ErrorContext};
use crate::runtime::config;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::wire::queue_task::Task;

/// A FIFO queue of first attempts. Message groups ensure that each chat's tasks are handled in order.
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
    /// Carries the later attempts to deliver to integrators.
    ChannelRetryQueue(RetryQueue, "CHANNEL_RETRY_QUEUE_URL");
    /// Carries the first attempts to deliver to bot providers.
    BotQueue(FifoQueue, "BOT_QUEUE_URL");
    /// Carries the later attempts to deliver to bot providers, and the tasks that check whether a bot has reacted
    /// within its time limit.
    BotRetryQueue(RetryQueue, "BOT_RETRY_QUEUE_URL");
    /// Carries the first attempts to deliver to webhooks.
    WebhookQueue(FifoQueue, "WEBHOOK_QUEUE_URL");
    /// Carries the later attempts to deliver to webhooks.
    WebhookRetryQueue(RetryQueue, "WEBHOOK_RETRY_QUEUE_URL");
}

/// The queues of first attempts, one for each kind of receiver.
pub type FirstAttemptQueues<'a> = (&'a ChannelQueue, &'a BotQueue, &'a WebhookQueue);

/// Queues the first attempts of stored notifications. The requests are sent concurrently, because each notification
/// goes to a different receiver, so they need no common order. Errors are handled as in
/// [`FifoQueue::enqueue_or_leave_to_sweep`].
pub async fn enqueue_notifications(entries: &[TimelineEntry], to_bot: &BotQueue, to_webhook: &WebhookQueue) {
    let queue = |entry: &TimelineEntry| if entry.webhook_dispatch.is_some() { &to_webhook.0 } else { &to_bot.0 };
    join_all(entries.iter().map(|entry| queue(entry).enqueue_entry_or_leave_to_sweep(entry))).await;
}

/// Adds the first attempt of a delivery's current round to the queue for its kind of receiver. Costs one request.
pub async fn send_first_attempt(entry: &TimelineEntry, queues: FirstAttemptQueues<'_>) -> Result<(), Error> {
    match queue_of(entry, queues) {
        Some(queue) => queue.send_entry(entry).await,
        None => Ok(()),
    }
}

/// Like [`send_first_attempt`], but errors are handled as in [`FifoQueue::enqueue_or_leave_to_sweep`].
pub(crate) async fn enqueue_first_attempt(entry: &TimelineEntry, queues: FirstAttemptQueues<'_>) {
    if let Some(queue) = queue_of(entry, queues) {
        queue.enqueue_entry_or_leave_to_sweep(entry).await;
    }
}

fn queue_of<'a>(entry: &TimelineEntry, (channel, bot, webhook): FirstAttemptQueues<'a>) -> Option<&'a FifoQueue> {
    match entry.delivery.as_ref()?.target {
        Target::Channel => Some(&channel.0),
        Target::Bot => Some(&bot.0),
        Target::Webhook => Some(&webhook.0),
    }
}

impl WebhookQueue {
    /// Queues the first attempts of stored events. The requests are sent concurrently, because each webhook receives
    /// its events independently of the others. Errors are handled as in [`FifoQueue::enqueue_or_leave_to_sweep`].
    pub async fn enqueue_webhook_events(&self, events: &[TimelineEntry]) {
        join_all(events.iter().map(|event| self.0.enqueue_entry_or_leave_to_sweep(event))).await;
    }
}

impl FifoQueue {
    fn open(startup: &mut StartupContext, url_variable: &'static str) -> Self {
        Self { queue: SqsQueue::open(startup, url_variable), groups_per_account: config::first_attempts_per_account() }
    }

    /// Adds a task to the queue, after the earlier tasks of its chat. Costs one request.
    pub async fn send(&self, task: &Task) -> Result<(), Error> {
        let group_id = task.message_group(self.groups_per_account);
        let options = SendOptions { group_id, deduplication_id: Some(task.deduplication_id()), delay: Duration::ZERO };
        self.queue.send(task.to_json(), options).await
    }

    /// Queues the task of a stored delivery. An error is only logged, so that the caller's request succeeds. The sweep
    /// (the scheduled search for overdue deliveries) finds the pending delivery later. Costs one request.
    pub async fn enqueue_or_leave_to_sweep(&self, task: &Task) {
        log_unqueued(task, self.send(task).await);
    }

    /// Like [`enqueue_or_leave_to_sweep`](Self::enqueue_or_leave_to_sweep), but queues the first attempt of an entry.
    /// Does nothing if the entry has no delivery.
    pub async fn enqueue_entry_or_leave_to_sweep(&self, entry: &TimelineEntry) {
        if let Some(task) = Task::first_attempt(entry) {
            log_unqueued(&task, self.send_entry(entry).await);
        }
    }

    /// Queues the first attempt of an entry. Does nothing if the entry has no delivery. Costs one request.
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

    /// Queues a task with a delay. The delay is rounded to whole seconds. Costs one request.
    pub async fn send(&self, task: &Task, delay: Duration) -> Result<(), Error> {
        // The queue is a fair queue. Each account is a message group, so that the backlog of one account does not delay
        // the other accounts.
        let options = SendOptions { group_id: task.account_id().to_owned(), deduplication_id: None, delay };
        self.0.send(task.to_json(), options).await
    }
}

fn log_unqueued(task: &Task, result: Result<(), Error>) {
    if let Err(error) = result {
        tracing::warn!(context = ?error.context(), task = task.deduplication_id(), "delivery not queued, left to the sweep");
    }
}

struct SendOptions {
    group_id: String,
    deduplication_id: Option<String>,
    delay: Duration,
}

impl SqsQueue {
    fn open(startup: &mut StartupContext, url_variable: &'static str) -> Self {
        let client = startup.sqs.get_or_insert_with(|| Client::new(&startup.aws)).clone();
        Self { client, url: startup.environment.required(url_variable) }
    }

    /// Sends a message. The future is boxed so that the AWS SDK's types are compiled only once, in this crate, instead
    /// of in every function.
    fn send(&self, body: String, options: SendOptions) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let seconds = i32::try_from((options.delay.as_millis() + 500) / 1_000).unwrap_or(i32::MAX);
            let request = self.client.send_message().queue_url(&self.url).message_body(body);
            let request =
                request.message_group_id(options.group_id).set_message_deduplication_id(options.deduplication_id);
            // This parameter must be absent for a FIFO queue, which rejects it even if the value is 0.
            let request = if seconds > 0 { request.delay_seconds(seconds) } else { request };
            request.send().await.map_err(|error| to_unavailable(&error))?;
            Ok(())
        })
    }
}

fn to_unavailable<E: ProvideErrorMetadata + std::fmt::Debug>(error: &SdkError<E>) -> Error {
    Error::Unavailable(ErrorContext::new(("sqs", error.code().map(str::to_owned), error.message().map(str::to_owned))))
}
