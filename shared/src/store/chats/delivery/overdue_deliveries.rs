//! Reads and changes the deliveries that are overdue according to the `due` index.

use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, DeliveryState, Failure};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::deliveries::new_round_values;
use crate::store::chats::delivery::due_index::{OverdueItem, delivery_due_at, failed_partition};
use crate::store::chats::items::FailureItem;
use crate::store::chats::{Chats, entry_from_item};
use crate::store::table::{ItemUpdate, WriteError, n, s};
use crate::store::to_attribute;

impl Chats {
    pub(crate) async fn overdue_entry(&self, overdue: &OverdueItem) -> Result<Option<TimelineEntry>, Error> {
        self.table.get(overdue.key.clone()).await?.map(entry_from_item).transpose()
    }

    /// Makes a pending delivery due again and returns its entry. A delivery that has not been attempted yet stays in
    /// its round; otherwise, a new round starts. Returns `None` if the delivery has changed since it was read.
    pub(crate) async fn requeue(
        &self,
        entry: &TimelineEntry,
        delivery: &Delivery,
        overdue: &OverdueItem,
        now: Timestamp,
    ) -> Result<Option<TimelineEntry>, Error> {
        let update = if delivery.attempts_made == 0 { POSTPONE_FIRST_ATTEMPT } else { REQUEUE_IN_NEW_ROUND };
        let mut values = vec![
            (":now", n(now.0)),
            (":one", n(1)),
            (":next_due", n(delivery_due_at(now).0)),
            (":due_at", n(overdue.due_at.0)),
            (":attempts_made", n(delivery.attempts_made)),
        ];
        if delivery.attempts_made > 0 {
            values.extend(new_round_values(entry.chat_id));
        }
        let condition = "#due_at = :due_at AND #delivery.#attempts_made = :attempts_made";
        match self.table.update(ItemUpdate { key: overdue.key.clone(), update, condition, values }).await {
            Ok(item) => entry_from_item(item).map(Some),
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(None),
            Err(WriteError::Error(error)) => Err(error),
        }
    }

    /// Marks an overdue delivery as failed. Returns false if the delivery has changed since it was read.
    pub(crate) async fn fail_overdue(
        &self,
        entry: &TimelineEntry,
        overdue: &OverdueItem,
        failure: Failure,
        now: Timestamp,
        events: &[TimelineEntry],
    ) -> Result<bool, Error> {
        let update = ItemUpdate {
            key: overdue.key.clone(),
            update: "SET #delivery.#state = :failed, #delivery.#failure = :failure, \
                     #delivery.#result_visible_at = :now, #due = :due, #due_at = #at",
            condition: "#due_at = :due_at",
            values: vec![
                (":due", s(failed_partition(&entry.account_id))),
                (":failed", s(DeliveryState::Failed.name())),
                (":failure", to_attribute(&FailureItem::from(&failure))?),
                (":now", n(now.0)),
                (":due_at", n(overdue.due_at.0)),
            ],
        };
        match self.store_failure(entry, update, now, events).await {
            Ok(()) => Ok(true),
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(false),
            Err(WriteError::Error(error)) => Err(error),
        }
    }
}

const POSTPONE_FIRST_ATTEMPT: &str =
    "SET #delivery.#round_started_at = :now, #delivery.#requeues = #delivery.#requeues + :one, #due_at = :next_due";

const REQUEUE_IN_NEW_ROUND: &str = "SET #delivery.#state = :pending, #delivery.#round = #delivery.#round + :one, \
     #delivery.#requeues = #delivery.#requeues + :one, #delivery.#round_started_at = :now, #delivery.#attempts_made = \
     :zero, #due = :due, #due_at = :next_due REMOVE #delivery.#failure, #delivery.#result_visible_at";
