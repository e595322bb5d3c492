//! The messages that the integrator of a channel without an address fetches. A page contains what would otherwise be
//! posted, signed in the same way. The request for the next page acknowledges it.
//!
//! The messages of a chat are returned in order: a message is left out as long as an earlier one is neither in the page
//! nor acknowledged. A page is returned again until it is acknowledged.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::try_join_all;

use crate::delivery::integrator_receiver::{self, outage_key};
use crate::delivery::outbound_client::reject_unsent;
use crate::domain::channels::channel::Channel;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{AttemptResult, Delivery, DeliveryState, Target};
use crate::domain::deliveries::delivery_search_and_replay::DeliveryCursor;
use crate::error::Error;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::wire::channels::event_feed::{FeedCursor, FetchedEvent, FetchedEvents};

/// How often a request that waits looks for new messages. Each look costs half a read.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// A page ends after the message that exceeds this.
const MAX_PAGE_BYTES: usize = 1024 * 1024;
const NOT_FETCHED: &str = "Not delivered: not fetched within three days";

pub struct EventFeed<'a> {
    pub chats: &'a Chats,
    pub channel: &'a Channel,
}

impl EventFeed<'_> {
    /// Acknowledges the page that ends at `after`, and returns the next one. Waits for up to `wait` if no message is
    /// there.
    pub async fn next_page(&self, after: &FeedCursor, limit: usize, wait: Duration) -> Result<FetchedEvents, Error> {
        self.acknowledge(after).await?;
        let until = clock::now().plus(wait);
        loop {
            let events = self.page(after, limit).await?;
            let remaining = until.since(clock::now());
            if !events.is_empty() || remaining.is_zero() {
                return Ok(events);
            }
            // The only function that waits on purpose: a caller that waits gets a message sooner than one who asks again.
            clock::sleep(remaining.min(POLL_INTERVAL)).await;
        }
    }

    async fn acknowledge(&self, FeedCursor(positions): &FeedCursor) -> Result<(), Error> {
        if positions.is_empty() {
            return Ok(());
        }
        let entries = self.chats.entries_at(&self.channel.account_id, positions).await?;
        let own = entries.values().filter(|(chat, entry)| self.is_of_channel(chat, entry));
        try_join_all(own.map(|(_, entry)| self.finish(entry))).await.map(|_| ())
    }

    /// The positions come from the caller, who may only acknowledge what waits for this channel.
    fn is_of_channel(&self, chat: &Chat, entry: &TimelineEntry) -> bool {
        let is_waiting = |delivery: &Delivery| delivery.target == Target::Channel && delivery.fetch_until.is_some();
        chat.channel_id == self.channel.channel_id && entry.delivery.as_ref().is_some_and(is_waiting)
    }

    async fn finish(&self, entry: &TimelineEntry) -> Result<(), Error> {
        if self.chats.finish_delivery(entry, DeliveryState::Delivered).await? {
            let (message_id, age) = (&entry.id, clock::now().since(entry.at));
            tracing::info!(message_id, entry.account_id, entry.chat_id, entry.seq, "delivery fetched");
            metrics::count_attempt(Target::Channel, AttemptResult::Delivered, Some(age));
        }
        Ok(())
    }

    /// Returns the oldest messages without those that `acknowledged` contains, which the index can still list.
    async fn page(&self, acknowledged: &FeedCursor, limit: usize) -> Result<FetchedEvents, Error> {
        let mut rows = self.chats.unfetched(&outage_key(self.channel)).await?;
        rows.retain(|(_, entry)| !acknowledged.contains(entry.chat_id, entry.seq));
        let (mut events, mut positions, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (chat, entry) in self.in_order(rows).await? {
            if bytes >= MAX_PAGE_BYTES || events.len() >= limit {
                break;
            }
            if let Some(event) = self.event(&chat, &entry).await? {
                bytes += event.bytes();
                events.push(event);
                positions.push(DeliveryCursor { at: None, chat_id: entry.chat_id, seq: entry.seq });
            }
        }
        Ok(FetchedEvents::new(events, &FeedCursor(positions)))
    }

    /// Sorts the messages of each chat and leaves out those that an earlier message of the chat holds back.
    async fn in_order(&self, mut rows: Vec<(Chat, TimelineEntry)>) -> Result<Vec<(Chat, TimelineEntry)>, Error> {
        rows.retain(|(_, entry)| is_pending(entry));
        rows.sort_by_key(|(_, entry)| (entry.chat_id, entry.seq));
        let now = clock::now();
        let earlier = try_join_all(rows.iter().map(|(_, entry)| self.chats.earlier_undelivered(entry, now))).await?;
        let mut last_seqs = HashMap::new();
        // A delivery that has failed before the channel began to fetch may be attempted again, but holds nothing back.
        let earlier = earlier.into_iter().map(|earlier| earlier.filter(|(entry, _)| is_pending(entry)));
        let held_back_by = earlier.map(|earlier| earlier.map(|(entry, _)| entry.seq));
        let rows = rows.into_iter().zip(held_back_by).filter_map(|((chat, entry), earlier)| {
            let is_next = earlier.is_none() || earlier == last_seqs.get(&entry.chat_id).copied();
            is_next.then(|| {
                last_seqs.insert(entry.chat_id, entry.seq);
                (chat, entry)
            })
        });
        Ok(rows.collect())
    }

    /// Returns a message as it would be posted. A message that cannot be shown, or that nobody has fetched in time, has
    /// failed.
    async fn event(&self, chat: &Chat, entry: &TimelineEntry) -> Result<Option<FetchedEvent>, Error> {
        let now = clock::now();
        let Some(delivery) = &entry.delivery else { return Ok(None) };
        if delivery.visible_state(now) == DeliveryState::Failed {
            return self.fail(entry, delivery, NOT_FETCHED).await.map(|()| None);
        }
        match integrator_receiver::compose(Some(self.channel), entry, chat)? {
            Ok((post, _)) => {
                let body = String::from_utf8(post.body.clone()).map_err(Error::internal)?;
                Ok(Some(FetchedEvent::new(post.headers(now)?, body)))
            }
            Err(obstacle) => self.fail(entry, delivery, obstacle).await.map(|()| None),
        }
    }

    async fn fail(&self, entry: &TimelineEntry, delivery: &Delivery, obstacle: &str) -> Result<(), Error> {
        let (outcome, attempt) = reject_unsent(obstacle);
        let failed = delivery.update_after_attempt(&outcome, attempt.at, attempt.at, false);
        if self.chats.record_attempt(entry, delivery, &attempt, (&failed, &[])).await? {
            metrics::count_attempt(Target::Channel, AttemptResult::Failed, Some(attempt.at.since(entry.at)));
        }
        Ok(())
    }
}

fn is_pending(entry: &TimelineEntry) -> bool {
    entry.delivery.as_ref().is_some_and(|delivery| delivery.state == DeliveryState::Pending)
}
