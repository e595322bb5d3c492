//! Delivers events to the webhooks of an account whose target is a queue or an event bus in the customer's AWS account.
//! Unlike servers, these give no answer that the agent could see.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::delivery::engine::{self, OutagePolicy, Receiver};
use crate::delivery::late_delivery::LateDelivery;
use crate::delivery::outbound_client::{AttemptFuture, reject_unsent};
use crate::delivery::webhook_request::{self, OutgoingEvent, WebhookRequests};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, Failure, Outcome, Target};
use crate::domain::deliveries::webhook::{Webhook, WebhookTarget};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::customer_aws::{CustomerAws, CustomerEvent, CustomerFailure, CustomerRole};
use crate::runtime::outbox::Outbox;
use crate::store::chats::Chats;
use crate::store::connections::circuit_breakers::CircuitBreakers;
use crate::store::directory::Directory;
use crate::wire::queue_task::Task;

pub type Dependencies = (Directory, Chats, CircuitBreakers, Outbox, CustomerAws);

/// Handles a task of the queues of a target, which is SQS or EventBridge.
///
/// # Errors
/// Like [`engine::run`]. Also fails if the task is of another kind.
pub async fn handle(target: Target, dependencies: Dependencies, task: Task) -> Result<(), Error> {
    let (directory, chats, breakers, outbox, aws) = &dependencies;
    let receiver = AwsTargetReceiver { target, directory, chats, aws };
    match task {
        Task::Entry(task) => engine::run(chats, breakers, outbox, &receiver, &task).await,
        Task::Outage(task) => LateDelivery { chats, outbox, receiver: &receiver }.run(task).await,
        Task::Typing(_) | Task::AnswerDue(_) | Task::AgentWaitDue(_) | Task::CallDue(_) | Task::StandbyCopy(_) => {
            Err(Error::internal("unexpected kind of task in the queue of a webhook"))
        }
    }
}

struct AwsTargetReceiver<'a> {
    target: Target,
    directory: &'a Directory,
    chats: &'a Chats,
    aws: &'a CustomerAws,
}

impl Receiver for AwsTargetReceiver<'_> {
    fn target(&self) -> Target {
        self.target
    }

    fn receiver_id(&self, entry: &TimelineEntry, _chat: &Chat) -> Option<String> {
        webhook_request::receiver_id(entry)
    }

    fn outage_policy<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        _chat: &'a Chat,
    ) -> BoxFuture<'a, Result<Option<OutagePolicy>, Error>> {
        Box::pin(async move { self.requests().outage_policy(entry).await })
    }

    fn send<'a>(&'a self, entry: &'a TimelineEntry, chat: &'a Chat, timeout: Duration) -> AttemptFuture<'a> {
        Box::pin(async move {
            match self.requests().to_send(entry, chat).await? {
                Ok((webhook, kind, event)) => self.attempt(&webhook, (kind, &event), chat, timeout).await,
                Err(nothing_sent) => Ok(nothing_sent),
            }
        })
    }
}

impl AwsTargetReceiver<'_> {
    fn requests(&self) -> WebhookRequests<'_> {
        WebhookRequests { directory: self.directory, chats: self.chats }
    }

    async fn attempt(
        &self,
        webhook: &Webhook,
        (kind, event): (WebhookEvent, &OutgoingEvent<'_>),
        chat: &Chat,
        timeout: Duration,
    ) -> Result<(Outcome, Attempt), Error> {
        let Some(arn) = webhook.role_arn.clone() else { return Ok(reject_unsent("the webhook has no role")) };
        let role = CustomerRole { arn, external_id: chat.account_id.clone() };
        let (started_at, (body, _)) = (clock::now(), event.formatted(webhook));
        let event = CustomerEvent { id: event.id, name: kind.name(), chat_id: chat.chat_id, sent_at: started_at, body };
        let sending = match webhook.target {
            WebhookTarget::Sqs => self.aws.send_message(&role, &webhook.url, event),
            WebhookTarget::EventBridge => self.aws.put_event(&role, &webhook.url, event),
            WebhookTarget::Server | WebhookTarget::Pull => return Ok(reject_unsent("the webhook has no queue or bus")),
        };
        let result = clock::timeout(timeout, sending).await.unwrap_or_else(|| Err(timed_out(timeout)));
        let duration_ms = u64::try_from(clock::now().since(started_at).as_millis()).unwrap_or(u64::MAX);
        let (outcome, status) = outcome_of(result);
        let error = outcome.error().map(str::to_owned);
        Ok((outcome, Attempt { at: started_at, status, duration_ms, error, answer: None }))
    }
}

fn timed_out(timeout: Duration) -> CustomerFailure {
    let reason = format!("no response within {} seconds", timeout.as_secs_f64().round());
    CustomerFailure::Temporary { status: None, reason }
}

/// Returns the outcome of an attempt and the HTTP status of the last response.
fn outcome_of(result: Result<(), CustomerFailure>) -> (Outcome, Option<u16>) {
    match result {
        Ok(()) => (Outcome::Delivered, Some(200)),
        Err(CustomerFailure::Final(message)) => {
            (Outcome::Rejected(Failure { code: None, message, hidden: false }), None)
        }
        Err(CustomerFailure::Temporary { status, reason }) => (Outcome::Retry(reason), status),
    }
}
