//! A message to a queue or an event bus of a customer, and how admins see it. The message that is sent and the one that
//! is shown have the same fields and the same body, except for secrets.

use std::time::Duration;

use crate::delivery::signed_post::without_user_tokens;
use crate::delivery::webhook_request::OutgoingEvent;
use crate::domain::deliveries::delivery::{Attempt, Failure, Outcome};
use crate::domain::deliveries::webhook::{Webhook, WebhookTarget};
use crate::domain::timestamp::Timestamp;
use crate::runtime::clock;
use crate::runtime::customer_aws::{CustomerAws, CustomerEvent, CustomerFailure, CustomerRole};
use crate::wire::admin::receiver_test::{SentMethod, SentRequest};

pub(crate) struct AwsMessage<'a> {
    destination: Destination,
    /// The URL of the queue or the ARN of the event bus.
    address: &'a str,
    role: CustomerRole,
    event: CustomerEvent<'a>,
    /// User tokens in the body, which admins do not see.
    hidden: Vec<String>,
}

enum Destination {
    Queue,
    EventBus,
}

impl<'a> AwsMessage<'a> {
    /// Returns the message with which an event is sent at `sent_at`. The error is the reason why there is none.
    pub(crate) fn new(
        account_id: &str,
        webhook: &'a Webhook,
        event: &'a OutgoingEvent<'_>,
        chat_id: u64,
        sent_at: Timestamp,
    ) -> Result<Self, &'static str> {
        let destination = match webhook.target {
            WebhookTarget::Sqs => Destination::Queue,
            WebhookTarget::EventBridge => Destination::EventBus,
            WebhookTarget::Server | WebhookTarget::Pull => return Err("the webhook has no queue or event bus"),
        };
        let arn = webhook.role_arn.clone().ok_or("the webhook has no role")?;
        let (body, _) = event.formatted(webhook).map_err(|_| "the event has no thin body")?;
        Ok(Self {
            destination,
            address: &webhook.url,
            role: CustomerRole { arn, external_id: account_id.to_owned() },
            event: CustomerEvent { id: event.id, name: event.name, chat_id, sent_at, body },
            hidden: event.user_tokens(),
        })
    }

    pub(crate) async fn send(&self, aws: &CustomerAws, timeout: Duration) -> (Outcome, Attempt) {
        let sending = match self.destination {
            Destination::Queue => aws.send_message(&self.role, self.address, &self.event),
            Destination::EventBus => aws.put_event(&self.role, self.address, &self.event),
        };
        let started_at = clock::now();
        let result = clock::timeout(timeout, sending).await.unwrap_or_else(|| Err(timed_out(timeout)));
        let duration_ms = u64::try_from(clock::now().since(started_at).as_millis()).unwrap_or(u64::MAX);
        let (outcome, status) = outcome_of(result);
        let error = outcome.error().map(str::to_owned);
        (outcome, Attempt { at: started_at, status, duration_ms, error, answer: None })
    }

    /// Returns the message as admins see it: its attributes, or the fields of the event, take the place of headers.
    pub(crate) fn shown(&self) -> SentRequest {
        let (method, fields) = match self.destination {
            Destination::Queue => {
                let fifo = self.event.fifo_fields(self.address).into_iter().flatten();
                (SentMethod::SendMessage, self.event.attributes().into_iter().chain(fifo).collect())
            }
            Destination::EventBus => (SentMethod::PutEvents, self.event.bus_fields().to_vec()),
        };
        let body = without_user_tokens(&self.event.body, &self.hidden);
        SentRequest::new(method, self.address.to_owned(), fields, &body)
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
