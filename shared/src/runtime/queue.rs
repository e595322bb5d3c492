//! SQS: the queues that carry delivery tasks. A task holds ids, never a payload.

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use futures_util::future::{BoxFuture, join_all};

use crate::domain::delivery::Target;
use crate::domain::entry::Entry;
use crate::error::{Context, Error};
use crate::runtime::config;
use crate::runtime::dependencies::{Dependency, Platform};
use crate::wire::task::Task;

/// A FIFO queue of first tries, in the order of each chat.
#[derive(Clone)]
pub struct OrderedQueue {
    queue: Queue,
    /// Message groups of an account: as many of its first tries are under way at once.
    lanes: u64,
}

/// A standard queue of later tries, with a delay each.
#[derive(Clone)]
pub struct DelayedQueue(Queue);

/// First tries to integrators.
#[derive(Clone)]
pub struct ChannelQueue(pub OrderedQueue);

/// Later tries to integrators.
#[derive(Clone)]
pub struct ChannelRetryQueue(pub DelayedQueue);

/// First tries to bot providers.
#[derive(Clone)]
pub struct BotQueue(pub OrderedQueue);

/// Later tries to bot providers, and their time-outs.
#[derive(Clone)]
pub struct BotRetryQueue(pub DelayedQueue);

/// First tries to webhooks.
#[derive(Clone)]
pub struct WebhookQueue(pub OrderedQueue);

/// Later tries to webhooks.
#[derive(Clone)]
pub struct WebhookRetryQueue(pub DelayedQueue);

#[derive(Clone)]
struct Queue {
    client: Client,
    url: String,
}

impl Dependency for ChannelQueue {
    fn open(platform: &mut Platform) -> Self {
        Self(OrderedQueue::open(platform, "CHANNEL_QUEUE_URL"))
    }
}

impl Dependency for ChannelRetryQueue {
    fn open(platform: &mut Platform) -> Self {
        Self(DelayedQueue(Queue::open(platform, "CHANNEL_RETRY_QUEUE_URL")))
    }
}

impl Dependency for BotQueue {
    fn open(platform: &mut Platform) -> Self {
        Self(OrderedQueue::open(platform, "BOT_QUEUE_URL"))
    }
}

impl Dependency for BotRetryQueue {
    fn open(platform: &mut Platform) -> Self {
        Self(DelayedQueue(Queue::open(platform, "BOT_RETRY_QUEUE_URL")))
    }
}

impl Dependency for WebhookQueue {
    fn open(platform: &mut Platform) -> Self {
        Self(OrderedQueue::open(platform, "WEBHOOK_QUEUE_URL"))
    }
}

impl Dependency for WebhookRetryQueue {
    fn open(platform: &mut Platform) -> Self {
        Self(DelayedQueue(Queue::open(platform, "WEBHOOK_RETRY_QUEUE_URL")))
    }
}

/// The queues of first attempts, by target.
pub type FirstAttempts<'a> = (&'a ChannelQueue, &'a BotQueue, &'a WebhookQueue);

/// Queues the notifications of a change that is stored, as [`OrderedQueue::enqueue_stored`] does. They go out together:
/// each has a receiver, and so an order, of its own.
pub async fn enqueue_notifications(entries: &[Entry], to_bot: &BotQueue, to_webhook: &WebhookQueue) {
    let queue = |entry: &Entry| if entry.occurrence.is_some() { &to_webhook.0 } else { &to_bot.0 };
    join_all(entries.iter().map(|entry| queue(entry).enqueue_stored_entry(entry))).await;
}

/// Queues the first attempt of a delivery's present round, whoever receives it. Fails when it could not be queued.
pub async fn send_round(entry: &Entry, queues: FirstAttempts<'_>) -> Result<(), Error> {
    match queue_of(entry, queues) {
        Some(queue) => queue.send_entry(entry).await,
        None => Ok(()),
    }
}

/// The same for a caller to whom the round has begun, as [`OrderedQueue::enqueue_stored`] does.
pub async fn enqueue_round(entry: &Entry, queues: FirstAttempts<'_>) {
    if let Some(queue) = queue_of(entry, queues) {
        queue.enqueue_stored_entry(entry).await;
    }
}

fn queue_of<'a>(entry: &Entry, (channel, bot, webhook): FirstAttempts<'a>) -> Option<&'a OrderedQueue> {
    match entry.delivery.as_ref()?.target {
        Target::Channel => Some(&channel.0),
        Target::Bot => Some(&bot.0),
        Target::Webhook => Some(&webhook.0),
    }
}

impl WebhookQueue {
    /// Queues the events of a change that is stored, as [`OrderedQueue::enqueue_stored`] does. They go out together:
    /// each webhook has an order of its own.
    pub async fn enqueue_events(&self, events: &[Entry]) {
        join_all(events.iter().map(|event| self.0.enqueue_stored_entry(event))).await;
    }
}

impl OrderedQueue {
    fn open(platform: &mut Platform, variable: &'static str) -> Self {
        Self { queue: Queue::open(platform, variable), lanes: config::first_attempts_per_account() }
    }

    /// Queues a task behind the others of its chat. One request.
    pub async fn send(&self, task: &Task) -> Result<(), Error> {
        let group = task.group(self.lanes);
        let order = Order { group, deduplication: Some(task.identity()), delay: Duration::ZERO };
        self.queue.send(task.to_json(), order).await
    }

    /// Queues the task of a delivery that is stored. What is stored is answered: a task that cannot be queued is logged
    /// and left to the sweep, which finds the pending delivery. One request.
    pub async fn enqueue_stored(&self, task: &Task) {
        left_to_sweep(task, self.send(task).await);
    }

    /// The same for the first attempt of an entry, if it has a delivery.
    pub async fn enqueue_stored_entry(&self, entry: &Entry) {
        if let Some(task) = Task::first_attempt(entry) {
            left_to_sweep(&task, self.send_entry(entry).await);
        }
    }

    /// Queues the first attempt of an entry, if it has a delivery. Fails when it could not be queued. One request.
    async fn send_entry(&self, entry: &Entry) -> Result<(), Error> {
        let Some(task) = Task::first_attempt(entry) else { return Ok(()) };
        self.send(&task).await?;
        tracing::info!(message_id = entry.id, entry.account_id, entry.chat_id, entry.seq, "queued");
        Ok(())
    }
}

impl DelayedQueue {
    /// Queues a task for later; the delay is rounded to whole seconds. One request.
    pub async fn send(&self, task: &Task, delay: Duration) -> Result<(), Error> {
        // The group is the tenant of a fair queue: one account's backlog does not hold up another's.
        let order = Order { group: task.account_id().to_owned(), deduplication: None, delay };
        self.0.send(task.to_json(), order).await
    }
}

fn left_to_sweep(task: &Task, queued: Result<(), Error>) {
    if let Err(error) = queued {
        tracing::warn!(context = ?error.context(), task = task.identity(), "not queued: left to the sweep");
    }
}

struct Order {
    group: String,
    deduplication: Option<String>,
    delay: Duration,
}

impl Queue {
    fn open(platform: &mut Platform, variable: &'static str) -> Self {
        let client = platform.sqs.get_or_insert_with(|| Client::new(&platform.aws)).clone();
        Self { client, url: platform.environment.text(variable) }
    }

    /// Boxed, so that the SDK's types are compiled here and not in every function.
    fn send(&self, body: String, order: Order) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let seconds = i32::try_from((order.delay.as_millis() + 500) / 1_000).unwrap_or(i32::MAX);
            let request = self.client.send_message().queue_url(&self.url).message_body(body);
            let request = request.message_group_id(order.group).set_message_deduplication_id(order.deduplication);
            // A FIFO queue does not take a delay, not even none.
            let request = if seconds > 0 { request.delay_seconds(seconds) } else { request };
            request.send().await.map_err(|error| failure(&error))?;
            Ok(())
        })
    }
}

fn failure<E: ProvideErrorMetadata + std::fmt::Debug>(error: &SdkError<E>) -> Error {
    Error::Unavailable(Context::new(("sqs", error.code().map(str::to_owned), error.message().map(str::to_owned))))
}
