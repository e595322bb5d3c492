//! What an admin does with the ledger of deliveries: look at it, and have parts of it sent again.

use serde_json::Value;

use crate::domain::delivery::DeliveryState;
use crate::domain::delivery_log::{Order, Place, Retry, Wanted, waits_for_bot};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::http::Response;
use crate::runtime::queue::{self, BotQueue, ChannelQueue, WebhookQueue};
use crate::store::chats::Chats;
use crate::store::chats::delivery_log::{Page, Search};
use crate::wire::delivery_log::{self, Question, Replay};

/// Deliveries that one request begins anew.
const MAX_CONCURRENT_REPLAYS: usize = 100;

/// An admin at work.
pub struct Desk<'a> {
    /// Whose chats.
    pub account_id: &'a str,
    /// Where they are.
    pub chats: &'a Chats,
    /// Where first tries are queued.
    pub queues: (&'a ChannelQueue, &'a BotQueue, &'a WebhookQueue),
    /// Now.
    pub now: Timestamp,
}

impl Desk<'_> {
    /// A page of the ledger, newest first.
    pub async fn list(&self, question: Question) -> Result<Response, Error> {
        let Question { wanted, chat_id, limit, after } = question;
        let search = self.search(&wanted, Order::NewestFirst, after, limit);
        let page = match chat_id {
            Some(chat_id) => self.of_chat(chat_id, search).await?,
            None if wanted.state == DeliveryState::Failed => self.chats.failures(search).await?,
            None => self.chats.deliveries(search).await?,
        };
        Ok(Response::ok(delivery_log::page(&page.rows, page.next, self.now)))
    }

    /// Sends again: one delivery, or what failed, oldest first, so that a receiver gets a chat in its order. What
    /// somebody else began anew meanwhile is left to them.
    pub async fn replay(&self, body: &Value) -> Result<Response, Error> {
        let failed = Wanted::all(DeliveryState::Failed);
        let page = match delivery_log::replay(body)? {
            Replay::One { chat_id, seq } => {
                self.begin(chat_id, seq, Retry::One).await?;
                return Ok(Response::accepted(delivery_log::replayed(1, 0, None)));
            }
            Replay::Chat { chat_id, after } => {
                self.of_chat(chat_id, self.search(&failed, Order::OldestFirst, after, MAX_CONCURRENT_REPLAYS)).await?
            }
            Replay::Range { wanted, after } => {
                let search = self.search(&wanted, Order::OldestFirst, after, MAX_CONCURRENT_REPLAYS);
                self.chats.failures(search).await?
            }
        };
        let (for_bots, others): (Vec<_>, Vec<_>) = page.rows.into_iter().partition(|(_, entry)| waits_for_bot(entry));
        let mut replayed = 0;
        for (_, entry) in others {
            match self.begin(entry.chat_id, entry.seq, Retry::Failed).await {
                Ok(()) => replayed += 1,
                Err(Error::Conflict(_) | Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Response::accepted(delivery_log::replayed(replayed, for_bots.len(), page.next)))
    }

    async fn begin(&self, chat_id: u64, seq: u64, retry: Retry) -> Result<(), Error> {
        let entry = self.chats.retry(self.account_id, chat_id, seq, retry, self.now).await?;
        queue::enqueue_round(&entry, self.queues).await;
        Ok(())
    }

    async fn of_chat(&self, chat_id: u64, search: Search<'_>) -> Result<Page, Error> {
        let chat = self.chats.chat(self.account_id, chat_id).await?.ok_or(Error::NotFound)?;
        self.chats.chat_deliveries(&chat, search).await
    }

    fn search<'s>(&'s self, wanted: &'s Wanted, order: Order, after: Option<Place>, limit: usize) -> Search<'s> {
        Search { account_id: self.account_id, wanted, order, after, limit, now: self.now }
    }
}
