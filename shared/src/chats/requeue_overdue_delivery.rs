//! Requeues overdue deliveries, which the sweep (a scheduled function) finds in the `due` index.

use crate::chats::transition::HandoverResult;
use crate::domain::bot_reaction;
use crate::domain::delivery::{DeliveryState, Failure, Target};
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::deliveries::new_round_values;
use crate::store::chats::due_index::{OverdueItem, delivery_due_at, failed_partition};
use crate::store::chats::items::FailureItem;
use crate::store::chats::{Chats, entry_from_item};
use crate::store::table::{ItemUpdate, WriteError, n, s};
use crate::store::to_attribute;

/// How many times the sweep (the scheduled search for overdue deliveries) requeues a delivery before it marks the
/// delivery as failed.
const MAX_REQUEUES: u32 = 60;
/// How many times the sweep requeues a delivery that awaits the bot's reaction and has not been attempted yet. Its task
/// may still wait in the queue behind the chat's earlier messages, so the first sweeps do not yet treat the delivery as
/// lost.
const MAX_BOT_REQUEUES: u32 = 2;

pub enum OverdueResult {
    /// The caller has nothing to do: the delivery is finished, or another process has changed it.
    NotNeeded,
    /// The delivery is pending, and the caller must queue its task.
    Requeued(TimelineEntry),
    /// The delivery was marked as failed without another attempt. `is_handed_over` tells whether the bot's chat was
    /// handed over to the agents.
    Failed { entry: TimelineEntry, is_handed_over: bool },
}

impl Chats {
    /// Requeues an overdue delivery, or marks it as failed after too many requeues. A delivery that has not been
    /// attempted yet stays in its round, because its task may still be in the queue. Otherwise, a new round starts.
    ///
    /// A delivery that awaits the bot's reaction ([`bot_reaction`]) is not requeued once it has been attempted.
    /// Instead, the chat is handed over to the agents, unless the bot has reacted or no longer owns the chat. A call is
    /// requeued without a limit.
    pub async fn resolve_overdue(&self, overdue: &OverdueItem, now: Timestamp) -> Result<OverdueResult, Error> {
        let Some(item) = self.table.get(overdue.key.clone()).await? else { return Ok(OverdueResult::NotNeeded) };
        let entry = entry_from_item(item)?;
        let Some(delivery) = entry.delivery.as_ref().filter(|delivery| delivery.state == DeliveryState::Pending) else {
            return Ok(OverdueResult::NotNeeded);
        };
        let awaits_bot_reaction = bot_reaction::awaits_bot_reaction(&entry);
        let is_abandoned = if awaits_bot_reaction {
            delivery.attempts_made > 0 || delivery.requeues >= MAX_BOT_REQUEUES
        } else {
            // A call is never abandoned here. It is requeued until an attempt is made, and an attempt that comes too
            // late marks the call as failed.
            delivery.requeues >= MAX_REQUEUES && delivery.target != Target::Call
        };
        if is_abandoned {
            if awaits_bot_reaction && let Some(state) = self.hand_over_unanswered(&entry, now).await? {
                return self.finish_delivery(&entry, state).await.map(|_| OverdueResult::NotNeeded);
            }
            let has_failed = self.fail_overdue(&entry, overdue, now).await?;
            return Ok(if has_failed {
                OverdueResult::Failed { entry, is_handed_over: awaits_bot_reaction }
            } else {
                OverdueResult::NotNeeded
            });
        }
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
            Ok(item) => entry_from_item(item).map(OverdueResult::Requeued),
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(OverdueResult::NotNeeded),
            Err(WriteError::Error(error)) => Err(error),
        }
    }

    /// Hands a chat over to the agents because the bot did not react to an entry. Returns `None` if the chat was handed
    /// over, or the delivery's final state if no handover was needed.
    async fn hand_over_unanswered(
        &self,
        entry: &TimelineEntry,
        now: Timestamp,
    ) -> Result<Option<DeliveryState>, Error> {
        let TimelineEntry { account_id, chat_id, .. } = entry;
        let since = bot_reaction::bot_reaction_window_start(entry);
        Ok(match self.hand_over_to_agents(account_id, *chat_id, since, now).await? {
            HandoverResult::HandedOver => None,
            HandoverResult::BotResponded => Some(bot_reaction::delivery_state_after_reaction(entry)),
            HandoverResult::NotWithBot => Some(DeliveryState::Superseded),
        })
    }

    /// Marks an overdue delivery as failed. Returns false if the delivery has changed since it was read.
    async fn fail_overdue(&self, entry: &TimelineEntry, overdue: &OverdueItem, now: Timestamp) -> Result<bool, Error> {
        let failure =
            Failure { code: None, message: "Not delivered: the tries could not be completed".into(), hidden: false };
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
        match self.store_failure(entry, update, now).await {
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
