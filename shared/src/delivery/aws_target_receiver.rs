//! Delivers events to the webhooks of an account whose target is a queue or an event bus in the customer's AWS account.
//! Unlike servers, these give no answer that the agent could see.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::delivery::aws_message::AwsMessage;
use crate::delivery::engine::{self, OutagePolicy, Receiver};
use crate::delivery::late_delivery::LateDelivery;
use crate::delivery::outbound_client::{AttemptFuture, reject_unsent};
use crate::delivery::webhook_request::{self, WebhookRequests};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::Target;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::customer_aws::CustomerAws;
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
        Task::Typing(_)
        | Task::AnswerDue(_)
        | Task::AgentWaitDue(_)
        | Task::CallDue(_)
        | Task::StandbyCopy(_)
        | Task::Assignment(_)
        | Task::AnswerTimer(_)
        | Task::Email(_) => Err(Error::internal("unexpected kind of task in the queue of a webhook")),
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
                Ok((webhook, _, event)) => {
                    match AwsMessage::new(&chat.account_id, &webhook, &event, chat.chat_id, clock::now()) {
                        Ok(message) => Ok(message.send(self.aws, timeout).await),
                        Err(obstacle) => Ok(reject_unsent(obstacle)),
                    }
                }
                Err(nothing_sent) => Ok(nothing_sent),
            }
        })
    }
}

impl AwsTargetReceiver<'_> {
    fn requests(&self) -> WebhookRequests<'_> {
        WebhookRequests { directory: self.directory, chats: self.chats }
    }
}
