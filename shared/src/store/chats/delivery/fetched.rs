//! Deliveries that wait until their receiver fetches them. The index `due` contains them in a partition of the receiver,
//! by the time of their entries.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, DeliveryState};
use crate::domain::deliveries::delivery_search_and_replay::DeliveryCursor;
use crate::domain::deliveries::outage::{LATE_PERIOD, OutageKey};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::delivery_listing::entry_position;
use crate::store::chats::delivery::due_index::OverdueItem;
use crate::store::chats::{Chats, entry_key};
use crate::store::table::{ItemUpdate, WriteResult, n, s};

/// With the headers of their chats, these entries fit into one batch of 100 reads.
pub const MAX_FETCHED: i32 = 50;

fn partition(OutageKey { account_id, target, receiver_id }: &OutageKey) -> String {
    format!("{account_id}#fetch#{}#{receiver_id}", target.name())
}

impl Chats {
    /// Lets a pending delivery wait for its receiver. Does nothing if the delivery has changed since it was read.
    pub async fn keep_for_fetcher(
        &self,
        entry: &TimelineEntry,
        delivery: &Delivery,
        receiver: &OutageKey,
    ) -> Result<(), Error> {
        let update = ItemUpdate {
            key: entry_key(&entry.account_id, entry.chat_id, entry.seq),
            update: "SET #due = :due, #due_at = #at, #delivery.#fetch_until = :until",
            condition: "#delivery.#state = :pending AND #delivery.#round = :round",
            values: vec![
                (":due", s(partition(receiver))),
                (":until", n(delivery.round_started_at.max(entry.at).plus(LATE_PERIOD).0)),
                (":pending", s(DeliveryState::Pending.name())),
                (":round", n(delivery.round)),
            ],
        };
        self.table.update(update).await.condition().map(|_| ())
    }

    /// Returns the oldest deliveries that wait for a receiver, at most [`MAX_FETCHED`]. Some that were acknowledged just
    /// now can be among them.
    pub async fn unfetched(&self, receiver: &OutageKey) -> Result<Vec<(Chat, TimelineEntry)>, Error> {
        let page = self.due_items(partition(receiver), Timestamp(u64::MAX), None, MAX_FETCHED).await?;
        let position = |OverdueItem { key, due_at }: &OverdueItem| entry_position(key, *due_at);
        let positions: Vec<DeliveryCursor> = page.items.iter().filter_map(position).collect();
        let mut found = self.entries_at(&receiver.account_id, &positions).await?;
        Ok(positions.iter().filter_map(|position| found.remove(&(position.chat_id, position.seq))).collect())
    }
}
