//! Delivers events to the webhooks of an account whose target is a queue or an event bus in the customer's AWS account.
//! Unlike servers, these give no answer that the agent could see.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::delivery::engine::{OutagePolicy, Receiver};
use crate::delivery::outbound_client::{AttemptFuture, SWITCHED_OFF, reject_unsent, retry_unsent};
use crate::delivery::webhook_request::{OutgoingEvent, WebhookRequests};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, Failure, Outcome, Target};
use crate::domain::deliveries::outage::{OutageKey, OutageStatus};
use crate::domain::deliveries::webhook::{Webhook, WebhookTarget};
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::customer_aws::{CustomerAws, CustomerEvent, CustomerFailure, CustomerRole};
use crate::store::chats::Chats;
use crate::store::directory::Directory;

pub struct AwsTargetReceiver<'a> {
    pub target: Target,
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub aws: &'a CustomerAws,
}

impl Receiver for AwsTargetReceiver<'_> {
    fn target(&self) -> Target {
        self.target
    }

    fn receiver_id(&self, entry: &TimelineEntry, _chat: &Chat) -> Option<String> {
        let webhook_dispatch = entry.webhook_dispatch.as_ref()?;
        Some(format!("{}#{}", entry.account_id, webhook_dispatch.webhook_id))
    }

    fn outage_policy<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        _chat: &'a Chat,
    ) -> BoxFuture<'a, Result<Option<OutagePolicy>, Error>> {
        Box::pin(async move {
            let dispatch = entry.webhook_dispatch.as_ref().filter(|dispatch| dispatch.event.is_attempted_late());
            let Some(dispatch) = dispatch else { return Ok(None) };
            let webhook = self.requests().webhook(entry, &dispatch.webhook_id).await?;
            Ok(webhook.map(|webhook| {
                let (account_id, receiver_id) = (entry.account_id.clone(), webhook.webhook_id);
                let key = OutageKey { account_id, target: self.target, receiver_id };
                OutagePolicy { key, options: webhook.delivery, status: webhook.outage_status }
            }))
        })
    }

    fn send<'a>(&'a self, entry: &'a TimelineEntry, chat: &'a Chat, timeout: Duration) -> AttemptFuture<'a> {
        Box::pin(async move {
            let Some(dispatch) = &entry.webhook_dispatch else {
                return Err(Error::internal("the webhook entry has no dispatch"));
            };
            match self.requests().webhook_and_event(entry, dispatch, chat).await? {
                Ok((webhook, _)) if webhook.outage_status == OutageStatus::SwitchedOff => {
                    Ok(retry_unsent(SWITCHED_OFF))
                }
                Ok((webhook, event)) => self.attempt(&webhook, &event, chat, dispatch.event.name(), timeout).await,
                Err(obstacle) => Ok(reject_unsent(obstacle)),
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
        event: &OutgoingEvent<'_>,
        chat: &Chat,
        name: &'static str,
        timeout: Duration,
    ) -> Result<(Outcome, Attempt), Error> {
        let Some(arn) = webhook.role_arn.clone() else { return Ok(reject_unsent("the webhook has no role")) };
        let role = CustomerRole { arn, external_id: chat.account_id.clone() };
        let (started_at, (body, _)) = (clock::now(), event.formatted(webhook.format));
        let event = CustomerEvent { id: event.id, name, chat_id: chat.chat_id, sent_at: started_at, body };
        let sending = match webhook.target {
            WebhookTarget::Sqs => self.aws.send_message(&role, &webhook.url, event),
            WebhookTarget::EventBridge => self.aws.put_event(&role, &webhook.url, event),
            WebhookTarget::Server => return Ok(reject_unsent("the webhook has a server")),
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
