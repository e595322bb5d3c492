//! The deliveries that a receiver without an address fetches: the messages of a channel, or the events of a webhook. A
//! page contains what would otherwise be posted, signed in the same way. The request for the next page acknowledges it.
//!
//! The deliveries of a chat are returned in order: one is left out as long as an earlier one is neither in the page
//! nor acknowledged. A page is returned again until it is acknowledged.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::try_join_all;

use crate::chats::delivery_events::delivery_events;
use crate::delivery::fetching_receiver::{FetchingReceiver, record_assignment};
use crate::delivery::outbound_client::reject_unsent;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::CrmCardAssignment;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, AttemptResult, Delivery, DeliveryState, DeliveryUpdate};
use crate::domain::deliveries::delivery_search_and_replay::DeliveryCursor;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::wire::event_feed::{FeedCursor, FetchedEvent, FetchedEvents};

/// How often a request that waits looks for new deliveries. Each look costs half a read.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// A page with several events is at most this large.
const MAX_PAGE_BYTES: usize = 1024 * 1024;
/// The maximum size of an event in a response. A response of Lambda has at most 6 MB.
const MAX_ENCODED_EVENT_BYTES: usize = 5 * 1024 * 1024;
const TOO_LARGE: &str = "the event is larger than a response can be";
const NOT_FETCHED: &str = "Not delivered: not fetched within three days";

pub struct EventFeed<'a> {
    pub chats: &'a Chats,
    pub receiver: FetchingReceiver<'a>,
}

impl EventFeed<'_> {
    /// Acknowledges the page that ends at `after`, and returns the next one. Waits for up to `wait` if nothing is
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
        let entries = self.chats.entries_at(&self.receiver.key().account_id, positions).await?;
        // The positions come from the caller, who may only acknowledge what waits for this receiver.
        let awaited = |chat: &Chat, entry: &TimelineEntry| is_pending(entry) && self.receiver.awaits(entry, chat);
        let own = entries.values().filter(|(chat, entry)| awaited(chat, entry));
        try_join_all(own.map(|(chat, entry)| self.finish(chat, entry))).await.map(|_| ())
    }

    async fn finish(&self, chat: &Chat, entry: &TimelineEntry) -> Result<(), Error> {
        record_assignment(self.chats, chat, entry, CrmCardAssignment::Done).await?;
        let failed_before = entry.delivery.as_ref().filter(|delivery| delivery.has_failed_before());
        let is_finished = match failed_before {
            Some(delivery) => self.finish_late(entry, delivery).await?,
            None => self.chats.finish_delivery(entry, DeliveryState::Delivered).await?,
        };
        if is_finished {
            let (message_id, age) = (&entry.id, clock::now().since(entry.at));
            tracing::info!(message_id, entry.account_id, entry.chat_id, entry.seq, "delivery fetched");
            metrics::count_attempt(self.receiver.target(), AttemptResult::Delivered, Some(age));
        }
        Ok(())
    }

    /// Finishes a delivery that had failed and was then sent again. Webhooks are told that it has arrived after all.
    async fn finish_late(&self, entry: &TimelineEntry, delivery: &Delivery) -> Result<bool, Error> {
        let now = clock::now();
        let webhooks = self.receiver.notified_webhooks();
        // The sweep queues the events, like those of a failure.
        let events = delivery_events(self.chats, webhooks, entry, WebhookEvent::DeliveredLate, (now, now)).await?;
        let fetched = Attempt { at: now, status: None, duration_ms: 0, error: None, answer: None };
        self.chats.record_attempt(entry, delivery, &fetched, (&DeliveryUpdate::Delivered, &events)).await
    }

    /// Returns the oldest deliveries without those that `acknowledged` contains, which the index can still list.
    async fn page(&self, acknowledged: &FeedCursor, limit: usize) -> Result<FetchedEvents, Error> {
        let mut rows = self.chats.unfetched(&self.receiver.key()).await?;
        rows.retain(|(_, entry)| !acknowledged.contains(entry.chat_id, entry.seq));
        let (mut events, mut positions, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (chat, entry) in self.in_order(rows).await? {
            if events.len() >= limit {
                break;
            }
            if let Some(event) = self.event(&chat, &entry).await? {
                if !events.is_empty() && bytes + event.bytes() > MAX_PAGE_BYTES {
                    break;
                }
                bytes += event.bytes();
                events.push(event);
                positions.push(DeliveryCursor { at: None, chat_id: entry.chat_id, seq: entry.seq });
            }
        }
        Ok(FetchedEvents::new(events, &FeedCursor(positions)))
    }

    /// Sorts the deliveries of each chat and leaves out those that an earlier one of the chat holds back.
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

    /// Returns a delivery as it would be posted. One that cannot be sent, or that nobody has fetched in time, has failed.
    async fn event(&self, chat: &Chat, entry: &TimelineEntry) -> Result<Option<FetchedEvent>, Error> {
        let now = clock::now();
        let Some(delivery) = &entry.delivery else { return Ok(None) };
        if delivery.visible_state(now) == DeliveryState::Failed {
            return self.fail(chat, entry, delivery, NOT_FETCHED).await.map(|()| None);
        }
        match self.receiver.compose(entry, chat, self.chats).await? {
            Ok(post) => {
                let body = String::from_utf8(post.body.clone()).map_err(Error::internal)?;
                if encoded_bytes(&body) > MAX_ENCODED_EVENT_BYTES {
                    return self.fail(chat, entry, delivery, TOO_LARGE).await.map(|()| None);
                }
                Ok(Some(FetchedEvent::new(post.headers(now)?, body)))
            }
            Err(obstacle) => self.fail(chat, entry, delivery, obstacle).await.map(|()| None),
        }
    }

    async fn fail(&self, chat: &Chat, entry: &TimelineEntry, delivery: &Delivery, obstacle: &str) -> Result<(), Error> {
        record_assignment(self.chats, chat, entry, CrmCardAssignment::Failed(obstacle.to_owned())).await?;
        let (outcome, attempt) = reject_unsent(obstacle);
        let failed = delivery.update_after_attempt(&outcome, attempt.at, attempt.at, false);
        // The sweep queues the events, because this function may not write to their queues.
        let webhooks = self.receiver.notified_webhooks();
        let events =
            delivery_events(self.chats, webhooks, entry, WebhookEvent::DeliveryFailed, (attempt.at, attempt.at))
                .await?;
        if self.chats.record_attempt(entry, delivery, &attempt, (&failed, &events)).await? {
            metrics::count_attempt(self.receiver.target(), AttemptResult::Failed, Some(attempt.at.since(entry.at)));
        }
        Ok(())
    }
}

/// Returns the size of a JSON body in a response. It is a string of the page, which is a string of the function's
/// response, so each quote and each backslash becomes four characters.
fn encoded_bytes(body: &str) -> usize {
    body.len() + 3 * body.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

fn is_pending(entry: &TimelineEntry) -> bool {
    entry.delivery.as_ref().is_some_and(|delivery| delivery.state == DeliveryState::Pending)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn size_of_an_event_includes_both_escapes() {
        for body in ["{}", r#"{"text":"\"quoted\" \\ and é"}"#] {
            let in_page = serde_json::to_string(body).unwrap();
            let in_response = serde_json::to_string(&in_page).unwrap();
            // Both texts have two quotes, and those of the inner one are escaped.
            assert_eq!(encoded_bytes(body) + 6, in_response.len());
        }
    }
}
