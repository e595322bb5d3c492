//! Finds deliveries, and builds their requests, for the admin endpoints of the delivery log.

use crate::delivery::bot_receiver::BotRequests;
use crate::delivery::integrator_receiver;
use crate::delivery::webhook_request::WebhookRequests;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{DeliveryState, Target};
use crate::domain::deliveries::delivery_search_and_replay::{DeliveryCursor, DeliveryFilter, SortOrder};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::delivery::delivery_listing::{DeliveryPage, DeliveryQuery};
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::wire::admin::receiver_test::SentRequest;

/// The deliveries of an account, or those in one of its chats.
pub struct Deliveries<'a> {
    pub chats: &'a Chats,
    pub account_id: &'a str,
    pub chat_id: Option<u64>,
    pub now: Timestamp,
}

impl Deliveries<'_> {
    /// Returns at most `limit` deliveries after the position `after`.
    ///
    /// # Errors
    /// Fails with `NotFound` if the chat does not exist.
    pub async fn page(
        &self,
        filter: &DeliveryFilter,
        order: SortOrder,
        after: Option<DeliveryCursor>,
        limit: usize,
    ) -> Result<DeliveryPage, Error> {
        let Self { chats, account_id, now, .. } = *self;
        let query = DeliveryQuery { account_id, filter, order, after, limit, now };
        match self.chat_id {
            Some(chat_id) => {
                let chat = chats.chat(account_id, chat_id).await?.ok_or(Error::NotFound)?;
                chats.chat_deliveries(&chat, query).await
            }
            None if filter.state == DeliveryState::Failed => chats.failures(query).await,
            None => chats.deliveries(query).await,
        }
    }
}

/// Builds the requests of deliveries, which are not stored, again from the current data.
pub struct DeliveryRequests<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
}

impl DeliveryRequests<'_> {
    /// Returns the request of a delivery as it is signed at `sent_at`, or why there is none.
    pub async fn shown(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        target: Target,
        sent_at: Timestamp,
    ) -> Result<Result<SentRequest, &'static str>, Error> {
        let Self { directory, chats, connections } = *self;
        let post = match target {
            Target::Channel => {
                let channel = integrator_receiver::channel_to_sign_with(directory, entry, chat).await?;
                integrator_receiver::compose(channel.as_deref(), entry, chat)?.map(|(post, _)| post)
            }
            Target::Bot => BotRequests { directory, chats, connections }.compose(entry, chat).await?,
            Target::Webhook => WebhookRequests { directory, chats }.compose(entry, chat).await?,
            Target::Sqs | Target::EventBridge => {
                return WebhookRequests { directory, chats }.shown_aws_message(entry, chat, sent_at).await;
            }
            Target::Call => return Ok(Err("the requests for calls are not shown")),
        };
        match post {
            Ok(post) => Ok(Ok(post.shown(sent_at)?)),
            Err(obstacle) => Ok(Err(obstacle)),
        }
    }
}
