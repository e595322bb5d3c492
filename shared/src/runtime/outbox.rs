//! The outbox hands over what a function has stored. Each kind of receiver ([`Target`]) has a FIFO queue for first
//! attempts and a standard queue, the retry queue, for later attempts and other delayed tasks. The queue of a task
//! follows from its target. A task contains ids, but never message content. It continues the trace of the request.
//!
//! Every function gets the URLs of all queues. The function's policy in `template.yaml` decides which of them it may
//! use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use futures_util::future::{BoxFuture, join_all};

use crate::domain::chats::idempotency_key::MessageReceipt;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::Target;
use crate::domain::named::Named;
use crate::error::{Error, ErrorContext};
use crate::runtime::aws_failure::AwsFailure;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::runtime::random_ids_and_secrets::random_token;
use crate::runtime::{aws_config, clock, config, trace};
use crate::wire::queue_message;
use crate::wire::queue_task::Task;

/// The longest delay of a message in SQS.
pub const MAX_DELAY: Duration = Duration::from_secs(15 * 60);

#[derive(Clone)]
pub struct Outbox {
    client: Client,
    queues: Arc<BTreeMap<Target, QueueUrls>>,
    /// The queues of automatic assignment: `first_attempts` for what is due, `retries` for what is delayed.
    assignment: Arc<QueueUrls>,
    emails: Arc<str>,
    /// The number of message groups per account in each FIFO queue. At most one task per group is in progress at a
    /// time, so this number limits how many of the account's first attempts to one kind of receiver run concurrently.
    groups_per_account: u64,
}

struct QueueUrls {
    first_attempts: String,
    retries: String,
}

impl Dependency for Outbox {
    fn open(startup: &mut StartupContext) -> Self {
        let client = Client::new(&aws_config::for_service(&startup.aws, "SQS"));
        let mut queues = BTreeMap::new();
        for target in Target::ALL {
            let (first_attempts, retries) = target.queue_url_variables();
            let required = |variable| startup.environment.required(variable);
            let [first_attempts, retries] = [first_attempts, retries].map(required);
            queues.insert(*target, QueueUrls { first_attempts, retries });
        }
        let [first_attempts, retries] = ["ASSIGNMENT_QUEUE_URL", "ASSIGNMENT_TIMER_QUEUE_URL"]
            .map(|variable| startup.environment.required(variable));
        let assignment = Arc::new(QueueUrls { first_attempts, retries });
        let emails = startup.environment.required("EMAIL_QUEUE_URL").into();
        let groups_per_account = config::first_attempts_per_account();
        Self { client, queues: Arc::new(queues), assignment, emails, groups_per_account }
    }
}

impl Outbox {
    /// Queues the first attempts of stored entries. Entries without a delivery are left out. A FIFO queue keeps the
    /// order in which the tasks of a message group arrive, so the entries for one webhook or one other kind of receiver
    /// are queued one after another. Different receivers are served concurrently.
    ///
    /// An error is only logged, so that the caller's request succeeds. The sweep (the scheduled search for overdue
    /// deliveries) finds the pending delivery later.
    pub async fn enqueue(&self, entries: &[TimelineEntry]) {
        join_all(entries_by_receiver(entries).into_iter().map(|entries| self.enqueue_in_order(entries))).await;
    }

    /// Queues entries until an error occurs, so that no entry overtakes one that could not be queued.
    async fn enqueue_in_order(&self, entries: Vec<&TimelineEntry>) {
        for entry in entries {
            if let Err(error) = self.send_first_attempt(entry).await {
                log_unqueued(&entry.account_id, entry.chat_id, entry.seq, &error);
                return;
            }
        }
    }

    /// Like [`enqueue`](Self::enqueue), for a message of which only the receipt is known. A repeated request queues the
    /// task again, because the first request may have failed before that. The queue and the consumer ignore a duplicate
    /// task.
    pub async fn enqueue_message(&self, account_id: &str, receipt: &MessageReceipt) {
        let Some(target) = receipt.target else { return };
        let task = Task::first_attempt_of_new_entry(account_id, receipt.chat_id, receipt.seq);
        if let Err(error) = self.send_in_order(target, &task).await {
            log_unqueued(account_id, receipt.chat_id, receipt.seq, &error);
        }
    }

    /// Queues the first attempt of a delivery's current round. Does nothing if the entry has no delivery.
    pub async fn send_first_attempt(&self, entry: &TimelineEntry) -> Result<(), Error> {
        let (Some(delivery), Some(task)) = (&entry.delivery, Task::first_attempt(entry)) else { return Ok(()) };
        self.send_in_order(delivery.target, &task).await?;
        tracing::info!(message_id = entry.id, entry.account_id, entry.chat_id, entry.seq, "delivery queued");
        Ok(())
    }

    /// Queues a late attempt at a failed delivery, after the earlier tasks of its message group. Does nothing if the
    /// entry has no delivery.
    pub async fn send_late_attempt(&self, entry: &TimelineEntry) -> Result<(), Error> {
        let task = Task::late_attempt(entry, clock::now());
        let (Some(delivery), Some(task)) = (&entry.delivery, task) else { return Ok(()) };
        self.send_in_order(delivery.target, &task).await
    }

    /// Adds a task to the FIFO queue of the target, after the earlier tasks of its message group.
    pub async fn send_in_order(&self, target: Target, task: &Task) -> Result<(), Error> {
        let options = SendOptions {
            group_id: task.message_group(self.groups_per_account),
            deduplication_id: Some(task.deduplication_id()),
            delay: Duration::ZERO,
        };
        self.send(&self.urls(target)?.first_attempts, task, options).await
    }

    /// Adds a task to the retry queue of the target. The delay is rounded to whole seconds.
    pub async fn send_delayed(&self, target: Target, task: &Task, delay: Duration) -> Result<(), Error> {
        // The queue is a fair queue. Each account is a message group, so that the backlog of one account does not delay
        // the other accounts.
        let options = SendOptions { group_id: task.account_id().to_owned(), deduplication_id: None, delay };
        self.send(&self.urls(target)?.retries, task, options).await
    }

    /// Queues a task of automatic assignment, after the earlier ones of the account. The queue drops no task as a
    /// duplicate, because each looks for what there is to assign at its time.
    pub async fn send_assignment(&self, task: &Task) -> Result<(), Error> {
        self.send_to_assignment(task, random_token()?).await
    }

    /// Queues a step of the time limit of an answer, after the earlier ones of the chat. The queue drops a repeated
    /// step.
    pub async fn send_answer_step(&self, task: &Task) -> Result<(), Error> {
        self.send_to_assignment(task, task.deduplication_id()).await
    }

    async fn send_to_assignment(&self, task: &Task, deduplication_id: String) -> Result<(), Error> {
        let options = SendOptions {
            group_id: task.message_group(self.groups_per_account),
            deduplication_id: Some(deduplication_id),
            delay: Duration::ZERO,
        };
        self.send(&self.assignment.first_attempts, task, options).await
    }

    /// Queues a task of automatic assignment with a delay of at most [`MAX_DELAY`], which is rounded to whole seconds.
    pub async fn send_assignment_later(&self, task: &Task, delay: Duration) -> Result<(), Error> {
        let options = SendOptions { group_id: task.account_id().to_owned(), deduplication_id: None, delay };
        self.send(&self.assignment.retries, task, options).await
    }

    /// Queues an e-mail with a delay of at most [`MAX_DELAY`], which is rounded to whole seconds.
    pub async fn send_email_later(&self, task: &Task, delay: Duration) -> Result<(), Error> {
        let options = SendOptions { group_id: task.account_id().to_owned(), deduplication_id: None, delay };
        self.send(&self.emails, task, options).await
    }

    fn urls(&self, target: Target) -> Result<&QueueUrls, Error> {
        self.queues.get(&target).ok_or_else(|| Error::internal(("no queues of the target", target.name())))
    }

    /// Sends one task, with the current trace. The future is boxed so that the AWS SDK's types are compiled only once,
    /// in this crate, instead of in every function.
    fn send<'a>(&'a self, url: &'a str, task: &'a Task, options: SendOptions) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let seconds = i32::try_from((options.delay.as_millis() + 500) / 1_000).unwrap_or(i32::MAX);
            let body = queue_message::build(task, trace::current().as_ref());
            let request = self.client.send_message().queue_url(url).message_body(body);
            let request =
                request.message_group_id(options.group_id).set_message_deduplication_id(options.deduplication_id);
            // A FIFO queue has no delays for single messages, so the parameter is set only if there is a delay.
            let request = if seconds > 0 { request.delay_seconds(seconds) } else { request };
            request.send().await.map_err(|error| to_unavailable(&error))?;
            Ok(())
        })
    }
}

fn entries_by_receiver(entries: &[TimelineEntry]) -> Vec<Vec<&TimelineEntry>> {
    let mut by_receiver = BTreeMap::<_, Vec<_>>::new();
    for entry in entries {
        let target = entry.delivery.as_ref().map(|delivery| delivery.target);
        let webhook_id = entry.webhook_dispatch.as_ref().map(|dispatch| &dispatch.webhook_id);
        by_receiver.entry((target, webhook_id)).or_default().push(entry);
    }
    by_receiver.into_values().collect()
}

fn log_unqueued(account_id: &str, chat_id: u64, seq: u64, error: &Error) {
    tracing::warn!(context = error.context(), account_id, chat_id, seq, "delivery not queued, left to the sweep");
}

struct SendOptions {
    group_id: String,
    deduplication_id: Option<String>,
    delay: Duration,
}

fn to_unavailable<E: ProvideErrorMetadata + std::fmt::Debug>(error: &SdkError<E>) -> Error {
    Error::Unavailable(ErrorContext::new(AwsFailure::new("sqs", error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::deliveries::webhook::WebhookDispatch;
    use crate::domain::deliveries::webhook_event::WebhookEvent;
    use crate::domain::timestamp::Timestamp;
    use crate::wire::sample_data;

    fn event(seq: u64, webhook_id: &str) -> TimelineEntry {
        let dispatch = WebhookDispatch {
            event: WebhookEvent::CallEvent,
            webhook_id: webhook_id.to_owned(),
            agent_id: None,
            assign_to: None,
            call: None,
            reports_rating: false,
            message_seq: None,
            status: None,
        };
        TimelineEntry { seq, webhook_dispatch: Some(dispatch), ..sample_data::agent_message("id", Timestamp(0)) }
    }

    #[test]
    fn entries_of_one_receiver_are_queued_in_order() {
        let events = [event(1, "b"), event(2, "a"), event(3, "b"), event(4, "a"), event(5, "b")];
        let numbers: Vec<Vec<u64>> = entries_by_receiver(&events)
            .into_iter()
            .map(|events| events.iter().map(|event| event.seq).collect())
            .collect();
        assert_eq!(numbers, [vec![2, 4], vec![1, 3, 5]]);
    }
}
