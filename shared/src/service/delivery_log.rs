//! The admin endpoints of the delivery log, which list, count, show and replay deliveries.

use serde_json::Value;

use crate::delivery::bot_receiver::BotRequests;
use crate::delivery::integrator_receiver;
use crate::delivery::signed_post::SignedPost;
use crate::delivery::webhook_request::WebhookRequests;
use crate::domain::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::chat::Chat;
use crate::domain::delivery::{DeliveryState, Target};
use crate::domain::delivery_search_and_replay::{
    DeliveryCursor, DeliveryFilter, ReplayScope, SortOrder, is_never_replayed,
};
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::http::Response;
use crate::runtime::queue::{self, FirstAttemptQueues};
use crate::store::chats::Chats;
use crate::store::chats::delivery_listing::{DeliveryPage, DeliveryQuery};
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::wire::delivery_log::{self, DeliveryCountsRequest, DeliveryLogRequest, ReplayRequest};

const MAX_REPLAYS_PER_REQUEST: usize = 100;

/// Each public method handles one endpoint.
pub struct DeliveryLogService<'a> {
    pub account_id: &'a str,
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
    pub queues: FirstAttemptQueues<'a>,
    pub now: Timestamp,
}

impl DeliveryLogService<'_> {
    /// Returns a page of deliveries, newest first.
    pub async fn list(&self, request: DeliveryLogRequest) -> Result<Response, Error> {
        let DeliveryLogRequest { filter, chat_id, limit, after } = request;
        let query = self.query(&filter, SortOrder::NewestFirst, after, limit);
        let page = match chat_id {
            Some(chat_id) => self.chat_deliveries(chat_id, query).await?,
            None if filter.state == DeliveryState::Failed => self.chats.failures(query).await?,
            None => self.chats.deliveries(query).await?,
        };
        Ok(Response::ok(delivery_log::page_json(&page.rows, page.next, self.now)))
    }

    pub async fn count(&self, request: &DeliveryCountsRequest) -> Result<Response, Error> {
        let failed = match request.counts_failed {
            true => Some(self.chats.count_failed(self.account_id, request.from, request.to).await?),
            false => None,
        };
        let pending = match request.counts_pending {
            true => Some(self.chats.count_pending(self.account_id).await?),
            false => None,
        };
        Ok(Response::ok(delivery_log::counts_json(failed, pending)))
    }

    /// Returns a delivery with its request. The request is not stored. The code that sends requests builds it again
    /// from the current data, with the time of the newest attempt or, if there was none, the current time.
    pub async fn show(&self, chat_id: u64, seq: u64) -> Result<Response, Error> {
        let (entry, chat) = self.chats.entry_and_chat(self.account_id, chat_id, seq).await?.ok_or(Error::NotFound)?;
        let delivery = entry.delivery.as_ref().filter(|_| !entry.is_expired(self.now)).ok_or(Error::NotFound)?;
        let sent_at = delivery.attempts.last().map_or(self.now, |attempt| attempt.at);
        let request = match self.compose(&entry, &chat, delivery.target).await? {
            Ok(post) => Ok(post.shown(sent_at)?),
            Err(obstacle) => Err(obstacle),
        };
        let shown =
            delivery_log::delivery_json(&chat, &entry, request.as_ref().map_err(|obstacle| *obstacle), self.now);
        Ok(Response::ok(shown.ok_or(Error::NotFound)?))
    }

    async fn compose(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        target: Target,
    ) -> Result<Result<SignedPost, &'static str>, Error> {
        let Self { directory, chats, connections, .. } = *self;
        match (target, &entry.webhook_dispatch) {
            (Target::Channel, _) => {
                let channel = integrator_receiver::channel_to_sign_with(directory, entry, chat).await?;
                Ok(integrator_receiver::compose(channel.as_deref(), entry, chat)?.map(|(post, _)| post))
            }
            (Target::Bot, _) => BotRequests { directory, chats, connections }.compose(entry, chat).await,
            (Target::Webhook, Some(dispatch)) => {
                WebhookRequests { directory, chats }.compose(entry, dispatch, chat).await
            }
            (Target::Webhook, None) => Err(Error::internal("the webhook entry has no dispatch")),
            (Target::Call, _) => Ok(Err("the requests for calls are not shown")),
        }
    }

    /// Replays one delivery, or at most 100 failed deliveries in a chat or a time range. The oldest delivery is
    /// replayed first, so that a receiver gets a chat's messages in order. In a chat or a time range, a delivery that a
    /// concurrent request is replaying is skipped. Failed events that need a reaction from a bot, and failed calls, are
    /// counted but not replayed.
    pub async fn replay(&self, body: &Value) -> Result<Response, Error> {
        let failed = DeliveryFilter::all(DeliveryState::Failed);
        let replay = delivery_log::parse_replay_request(body)?;
        self.record_replay(&replay).await?;
        let page = match replay {
            ReplayRequest::One { chat_id, seq } => {
                self.start_replay(chat_id, seq, ReplayScope::Single).await?;
                return Ok(Response::accepted(delivery_log::replay_result_json(1, 0, None)));
            }
            ReplayRequest::Chat { chat_id, after } => {
                self.chat_deliveries(
                    chat_id,
                    self.query(&failed, SortOrder::OldestFirst, after, MAX_REPLAYS_PER_REQUEST),
                )
                .await?
            }
            ReplayRequest::Range { filter, after } => {
                let query = self.query(&filter, SortOrder::OldestFirst, after, MAX_REPLAYS_PER_REQUEST);
                self.chats.failures(query).await?
            }
        };
        let (skipped, replayable): (Vec<_>, Vec<_>) =
            page.rows.into_iter().partition(|(_, entry)| is_never_replayed(entry));
        let mut replayed = 0;
        for (_, entry) in replayable {
            match self.start_replay(entry.chat_id, entry.seq, ReplayScope::AllFailed).await {
                Ok(()) => replayed += 1,
                Err(Error::Conflict(_) | Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Response::accepted(delivery_log::replay_result_json(replayed, skipped.len(), page.next)))
    }

    /// Records the replay in the audit log. A large replay consists of many requests, of which one a minute is
    /// recorded.
    async fn record_replay(&self, replay: &ReplayRequest) -> Result<(), Error> {
        let id = match replay {
            ReplayRequest::One { chat_id, seq } => format!("{chat_id}/{seq}"),
            ReplayRequest::Chat { chat_id, .. } => chat_id.to_string(),
            ReplayRequest::Range { .. } => String::new(),
        };
        let change = AuditedChange::unnamed(AuditAction::Replayed, AuditedKind::Delivery, id);
        self.directory.record_once_a_minute(self.account_id, change).await
    }

    async fn start_replay(&self, chat_id: u64, seq: u64, scope: ReplayScope) -> Result<(), Error> {
        let entry = self.chats.replay_delivery(self.account_id, chat_id, seq, scope, self.now).await?;
        queue::enqueue_first_attempt(&entry, self.queues).await;
        Ok(())
    }

    async fn chat_deliveries(&self, chat_id: u64, query: DeliveryQuery<'_>) -> Result<DeliveryPage, Error> {
        let chat = self.chats.chat(self.account_id, chat_id).await?.ok_or(Error::NotFound)?;
        self.chats.chat_deliveries(&chat, query).await
    }

    fn query<'s>(
        &'s self,
        filter: &'s DeliveryFilter,
        order: SortOrder,
        after: Option<DeliveryCursor>,
        limit: usize,
    ) -> DeliveryQuery<'s> {
        DeliveryQuery { account_id: self.account_id, filter, order, after, limit, now: self.now }
    }
}
