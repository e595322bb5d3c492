//! What outages of receivers mean for an attempt: a failed delivery can be attempted late, a success can begin a drain,
//! and in strict order a delivery waits for the chat's earlier one.

use std::time::Duration;

use super::{Decision, DeliveryRun, DueAttempt, UNAVAILABLE_RETRY_DELAY};
use crate::delivery::late_delivery::LateDelivery;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, Delivery, DeliveryState, DeliveryUpdate, Failure, Outcome};
use crate::domain::deliveries::outage::{LATE_PERIOD, OutageKey, OutageStatus};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::queue_task::{EntryTask, Task};

/// The longest time after which a delivery in strict order looks again whether its turn has come.
const MAX_RECHECK_DELAY: Duration = Duration::from_secs(60);

impl DeliveryRun<'_> {
    /// In strict order, a first or late attempt has to wait until the chat's earlier delivery to the receiver has
    /// ended. It fails as soon as the earlier one has, so that the agent sees one verdict.
    pub(super) async fn in_strict_order(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        decision: Decision,
        now: Timestamp,
    ) -> Result<Decision, Error> {
        let Decision::Send(delivery, _) = &decision else { return Ok(decision) };
        if delivery.attempts_made > 0 && !self.task.is_late() {
            return Ok(decision);
        }
        let policy = self.receiver.outage_policy(entry, chat).await?;
        let Some(policy) = policy.filter(|policy| policy.options.strict_order) else { return Ok(decision) };
        let earlier = self.chats.earlier_undelivered(entry, now).await?;
        // A message that waits to be fetched, from when the channel had no address, may wait for days.
        let earlier = earlier.filter(|(_, delivery)| delivery.fetch_until.is_none());
        let Some((_, earlier)) = earlier else { return Ok(decision) };
        Ok(match earlier.state {
            // The earlier delivery ends first, and then wakes this one.
            _ if self.task.is_late() => Decision::Skip,
            DeliveryState::Pending => {
                // The earlier delivery wakes this one, unless its process dies. So this one looks ever less often, because
                // the earlier one may itself wait for one that is planned for later.
                let recheck = (now.since(entry.at) / 8).clamp(UNAVAILABLE_RETRY_DELAY, MAX_RECHECK_DELAY);
                let verdict_at = earlier.clock().result_visible_at(now.plus(recheck));
                Decision::Requeue(self.task.retry_unordered(), verdict_at.since(now))
            }
            DeliveryState::Failed | DeliveryState::Delivered | DeliveryState::Superseded => {
                Decision::FailBehindOther(delivery.clone(), policy.key)
            }
        })
    }

    pub(super) async fn fail_behind_other(
        &self,
        entry: &TimelineEntry,
        delivery: &Delivery,
        key: &OutageKey,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.late_delivery().record_failure(key, now).await?;
        let EntryTask { account_id, chat_id, seq, .. } = &self.task;
        tracing::info!(account_id, chat_id, seq, "delivery failed for now: an earlier one of the chat has failed");
        let update = DeliveryUpdate::failed(Failure::waits_for_earlier_message(), now);
        let events = self.events_of(entry, delivery, &update).await?;
        let late_until = entry.at.plus(LATE_PERIOD);
        if self.chats.fail_behind_other(entry, delivery, late_until, now, &events).await? {
            self.outbox.enqueue(&events).await;
        }
        Ok(())
    }

    /// Returns the update of a delivery whose attempts have failed temporarily: if its receiver has late delivery
    /// switched on, the delivery is attempted again later. The outage is recorded first, because it must exist as long
    /// as such deliveries do.
    pub(super) async fn delay_if_outage(
        &self,
        due: &DueAttempt,
        outcome: &Outcome,
        update: DeliveryUpdate,
        now: Timestamp,
    ) -> Result<DeliveryUpdate, Error> {
        let (DeliveryUpdate::Failed { failure, visible_at, .. }, Outcome::Retry(_)) = (&update, outcome) else {
            return Ok(update);
        };
        let late_until = due.entry.at.plus(LATE_PERIOD);
        let policy = self.receiver.outage_policy(&due.entry, &due.chat).await?;
        let Some(policy) = policy.filter(|policy| policy.options.late_delivery && now < late_until) else {
            return Ok(update);
        };
        self.late_delivery().record_failure(&policy.key, now).await?;
        let (failure, visible_at, late_until) = (failure.clone(), *visible_at, Some(late_until));
        Ok(DeliveryUpdate::Failed { failure, visible_at, late_until })
    }

    /// Queues what has waited for this attempt: a drain after an outage, which also attempts the next delivery of the
    /// chat, or only that.
    pub(super) async fn follow_up(
        &self,
        due: &DueAttempt,
        outcome: &Outcome,
        attempt: &Attempt,
        now: Timestamp,
    ) -> Result<(), Error> {
        let starts_drain = self.update_outage(due, outcome, attempt, now).await?;
        if starts_drain { Ok(()) } else { self.wake_next(due, outcome, now).await }
    }

    /// Counts a failed late attempt. Starts a drain if the receiver has responded, and its outage may be over. Returns
    /// whether it has started one.
    async fn update_outage(
        &self,
        due: &DueAttempt,
        outcome: &Outcome,
        attempt: &Attempt,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let DueAttempt { entry, chat, delivery, .. } = due;
        let (is_late, has_failed) = (delivery.state == DeliveryState::Failed, matches!(outcome, Outcome::Retry(_)));
        let has_responded = !has_failed && attempt.status.is_some();
        if !(is_late && has_failed || has_responded) {
            return Ok(false);
        }
        let Some(policy) = self.receiver.outage_policy(entry, chat).await? else { return Ok(false) };
        let was_failing = policy.status == OutageStatus::Reported || chat.is_failing(self.receiver.target(), now);
        if is_late && has_failed {
            self.chats.count_failed_probe(&policy.key, now).await.map(|()| false)
        } else if is_late || (was_failing && policy.options.late_delivery) {
            self.late_delivery().record_success(&policy.key, now).await
        } else {
            Ok(false)
        }
    }

    /// Queues the delivery of the chat that waited for this one in strict order. If this is the very first attempt, the
    /// next delivery is still in the FIFO queue behind it.
    async fn wake_next(&self, due: &DueAttempt, outcome: &Outcome, now: Timestamp) -> Result<(), Error> {
        let DueAttempt { entry, chat, delivery, .. } = due;
        let is_replay = delivery.round > 1;
        let was_delayed = !self.task.ordered || self.task.is_late() || delivery.attempts_made > 0 || is_replay;
        if matches!(outcome, Outcome::Retry(_)) || !was_delayed {
            return Ok(());
        }
        let policy = self.receiver.outage_policy(entry, chat).await?;
        if !policy.is_some_and(|policy| policy.options.strict_order) {
            return Ok(());
        }
        let Some((next, _)) = self.chats.next_undelivered(entry, now).await? else { return Ok(()) };
        let Some(task) = Task::next_in_strict_order(&next, now) else { return Ok(()) };
        self.send_delayed(&task, Duration::ZERO).await
    }

    fn late_delivery(&self) -> LateDelivery<'_> {
        LateDelivery { chats: self.chats, outbox: self.outbox, receiver: self.receiver }
    }
}
