//! Finds the entries of a chat before and after an entry that have the same receiver. In strict order, an entry is not
//! sent before the one before it has been delivered or has failed for good.

use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, DeliveryState};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::{Chats, MAX_SEQ, entry_from_item, timeline_query};
use crate::store::table::Query;

/// Most entries have a neighbour with the same receiver among so many.
const MIN_ENTRIES_PER_QUERY: i32 = 10;
/// The next queries read more, for a webhook with few events in a long chat.
const MAX_ENTRIES_PER_QUERY: i32 = 200;

#[derive(Clone, Copy)]
enum Direction {
    Back,
    Forth,
}

impl Chats {
    /// Returns the entry before `entry` with the same receiver if it still waits for its delivery.
    pub async fn earlier_undelivered(
        &self,
        entry: &TimelineEntry,
        now: Timestamp,
    ) -> Result<Option<(TimelineEntry, Delivery)>, Error> {
        self.undelivered_neighbour(entry, Direction::Back, now).await
    }

    /// Returns the entry after `entry` with the same receiver if it still waits for its delivery.
    pub async fn next_undelivered(
        &self,
        entry: &TimelineEntry,
        now: Timestamp,
    ) -> Result<Option<(TimelineEntry, Delivery)>, Error> {
        self.undelivered_neighbour(entry, Direction::Forth, now).await
    }

    async fn undelivered_neighbour(
        &self,
        entry: &TimelineEntry,
        direction: Direction,
        now: Timestamp,
    ) -> Result<Option<(TimelineEntry, Delivery)>, Error> {
        let (mut seq, mut limit) = (entry.seq, MIN_ENTRIES_PER_QUERY);
        loop {
            let entries = self.entries_beside(entry, seq, direction, limit).await?;
            limit = MAX_ENTRIES_PER_QUERY;
            let Some(last) = entries.last() else { return Ok(None) };
            seq = last.seq;
            if let Some(neighbour) = entries.into_iter().find(|other| has_same_receiver(other, entry)) {
                let delivery = neighbour.delivery.clone().filter(|delivery| is_undelivered(delivery, now));
                return Ok(delivery.map(|delivery| (neighbour, delivery)));
            }
        }
    }

    /// Reads some entries before or after the number `seq`, the nearest first.
    async fn entries_beside(
        &self,
        entry: &TimelineEntry,
        seq: u64,
        direction: Direction,
        limit: i32,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let (seqs, descending) = match direction {
            Direction::Back => (1..=seq.saturating_sub(1), true),
            Direction::Forth => (seq.saturating_add(1)..=MAX_SEQ, false),
        };
        let query = timeline_query(&entry.account_id, entry.chat_id, seqs, limit);
        let Some(query) = query else { return Ok(Vec::new()) };
        self.table.query(Query { descending, ..query }).await?.into_iter().map(entry_from_item).collect()
    }
}

/// Whether both entries have the same receiver. Entries that are not attempted late keep no order.
fn has_same_receiver(one: &TimelineEntry, other: &TimelineEntry) -> bool {
    let receiver = |entry: &TimelineEntry| {
        let dispatch = entry.webhook_dispatch.as_ref();
        let is_ordered = dispatch.is_none_or(|dispatch| dispatch.event.is_attempted_late());
        let target = entry.delivery.as_ref().filter(|_| is_ordered).map(|delivery| delivery.target);
        (target, dispatch.map(|dispatch| dispatch.webhook_id.clone()))
    };
    receiver(one) == receiver(other)
}

fn is_undelivered(delivery: &Delivery, now: Timestamp) -> bool {
    match delivery.state {
        DeliveryState::Pending => true,
        DeliveryState::Failed => delivery.late_until.is_some_and(|until| now < until),
        DeliveryState::Delivered | DeliveryState::Superseded => false,
    }
}
