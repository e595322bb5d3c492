//! Lets an admin test the receivers of an account: a sample request is sent, and the admin sees the request, the
//! response, and whether the receiver keeps the tested clause. Nothing is stored.

use crate::delivery::aws_message::AwsMessage;
use crate::delivery::bot_receiver;
use crate::delivery::integrator_receiver;
use crate::delivery::outbound_client::OutboundClient;
use crate::delivery::server_check::{self, BOT_TYPES, INTEGRATOR_TYPES, TypePointers, WEBHOOK_TYPES};
use crate::delivery::signed_post::SignedPost;
use crate::delivery::webhook_request::{self, OutgoingEvent};
use crate::domain::bots::bot::{Bot, Provider};
use crate::domain::channels::channel::Channel;
use crate::domain::deliveries::delivery::Outcome;
use crate::domain::deliveries::retry_schedule;
use crate::domain::deliveries::server_clause::ServerClause;
use crate::domain::deliveries::webhook::{Webhook, WebhookTarget};
use crate::domain::named::Named;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::customer_aws::CustomerAws;
use crate::runtime::random_ids_and_secrets::new_webhook_request_id;
use crate::wire::admin::receiver_test::{ChannelTestRequest, ReceiverTest};
use crate::wire::bots::bot_sample::BotTest;
use crate::wire::channels::integrator_response;
use crate::wire::receiver_response::ReceiverResponse;
use crate::wire::sample_data;
use crate::wire::webhooks::webhook_sample::WebhookTestRequest;

pub async fn test_integrator(
    outbound: &OutboundClient,
    channel: &Channel,
    test: &ChannelTestRequest,
    now: Timestamp,
) -> Result<ReceiverTest, Error> {
    let mut chat = sample_data::chat(now);
    chat.channel_id.clone_from(&channel.channel_id);
    let message = sample_data::agent_message(&new_webhook_request_id(), now);
    let composed = integrator_receiver::compose(Some(channel), &message, &chat)?;
    let (post, api) = composed.map_err(Error::Conflict)?;
    if post.url.is_none() {
        return Err(Error::Conflict("the channel has no address: its integrator fetches the messages"));
    }
    let tested = Tested { clause: test.clause(), post, types: INTEGRATOR_TYPES };
    tested.send(outbound, |response| integrator_response::outcome(response, api)).await
}

pub async fn test_bot(
    outbound: &OutboundClient,
    bot: &Bot,
    provider: &Provider,
    test: &BotTest,
    now: Timestamp,
) -> Result<ReceiverTest, Error> {
    let id = new_webhook_request_id();
    let body = test.event.unwrap_or_default().body(bot, &id, now);
    let post = bot_receiver::signed_post(bot, provider, &body, &id)?;
    Tested { clause: test.clause(), post, types: BOT_TYPES }.send(outbound, bot_receiver::interpret_response).await
}

/// Tests a webhook, whose account has the id `account_id`.
pub async fn test_webhook(
    (outbound, aws): (&OutboundClient, &CustomerAws),
    account_id: &str,
    webhook: &Webhook,
    test: &WebhookTestRequest,
    now: Timestamp,
) -> Result<ReceiverTest, Error> {
    let (sample, clause) = (test.event(), test.clause());
    let (id, body) = (&new_webhook_request_id(), sample.body(&webhook.webhook_id, now));
    let event = OutgoingEvent { id, at: now, name: sample.name(), body };
    match webhook.target {
        WebhookTarget::Server => {
            let post = webhook_request::signed_post(webhook, &event, now)?;
            let tested = Tested { clause, post, types: WEBHOOK_TYPES };
            tested
                .send(outbound, |response| match response.status {
                    200..=299 => Outcome::Delivered,
                    status => Outcome::Retry(format!("HTTP {status}")),
                })
                .await
        }
        WebhookTarget::Sqs | WebhookTarget::EventBridge if clause != ServerClause::Accepts => {
            Err(Error::Conflict("only a server can be tested with this clause"))
        }
        WebhookTarget::Sqs | WebhookTarget::EventBridge => {
            let chat_id = sample_data::chat(now).chat_id;
            let message = AwsMessage::new(account_id, webhook, &event, chat_id, now).map_err(Error::Conflict)?;
            let (outcome, attempt) = message.send(aws, retry_schedule::ATTEMPT_TIMEOUT).await;
            Ok(ReceiverTest::new(clause, message.shown(), (&outcome, &attempt), None))
        }
        WebhookTarget::Pull => Err(Error::Conflict("the webhook has no address: a program fetches its events")),
    }
}

/// A clause, and the right request that is changed to test it.
struct Tested {
    clause: ServerClause,
    post: SignedPost,
    types: TypePointers,
}

impl Tested {
    /// Sends the requests of the clause, one after the other, and returns the first one whose response breaks it, or
    /// the last one. `interpret` returns the outcome that the receiver's response would have for a delivery.
    async fn send(
        self,
        outbound: &OutboundClient,
        interpret: impl Fn(&ReceiverResponse) -> Outcome,
    ) -> Result<ReceiverTest, Error> {
        let Self { clause, post, types } = self;
        if let Some(earlier) = server_check::earlier_request(clause, &post) {
            let tested = send_once(outbound, clause, &earlier, &interpret).await?;
            if !tested.kept {
                return Ok(tested);
            }
        }
        send_once(outbound, clause, &server_check::request(clause, post, types)?, &interpret).await
    }
}

/// Sends a request once and returns the request and its result, as admins see them.
async fn send_once(
    outbound: &OutboundClient,
    clause: ServerClause,
    post: &SignedPost,
    interpret: impl FnOnce(&ReceiverResponse) -> Outcome,
) -> Result<ReceiverTest, Error> {
    let sent = outbound.post(post, retry_schedule::ATTEMPT_TIMEOUT).await?;
    let response = sent.result.as_ref().ok().map(|response| response.body.clone());
    let (outcome, attempt) = sent.into_outcome(interpret);
    let request = post.shown(attempt.at)?;
    Ok(ReceiverTest::new(clause, request, (&outcome, &attempt), response.as_deref()))
}
