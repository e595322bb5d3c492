//! Places phone calls through the telephony providers of accounts, and ends calls whose time limit has passed. An
//! outgoing call or a callback counts as accepted when the provider responds with 2xx or sends any report about it.
//!
//! The check of a call's time limit is queued before the call is placed. A call therefore ends even if the provider
//! never reports its end.

use std::time::Duration;

use crate::chats::call::report_call::{ReportedCall, report_call};
use crate::delivery::engine::{Receiver, UpdateFuture};
use crate::delivery::outbound_client::{AttemptFuture, OutboundClient, reject_unsent};
use crate::delivery::telephony;
use crate::domain::calls::phone_call::{Call, CallCheck, CallKind, CallReport};
use crate::domain::calls::telephony::{CallOrder, Telephony};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, DeliveryState, DeliveryUpdate, Outcome, Target};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::outbox::Outbox;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::queue_task::{CallCheckTask, Task};

/// The maximum delay of a message in SQS. A check that is due later is queued several times.
const MAX_QUEUE_DELAY: Duration = Duration::from_secs(15 * 60);

/// The delay before a check is repeated if the call changed during the check.
const REPEATED_CHECK_DELAY: Duration = Duration::from_secs(1);

const UNAVAILABLE_RETRY_DELAY: Duration = Duration::from_secs(5);

pub struct TelephonyReceiver<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub outbound: &'a OutboundClient,
    pub outbox: &'a Outbox,
}

impl Receiver for TelephonyReceiver<'_> {
    fn target(&self) -> Target {
        Target::Call
    }

    /// Returns the id of the account, because each account has its own provider.
    fn receiver_id(&self, entry: &TimelineEntry, _chat: &Chat) -> Option<String> {
        Some(entry.account_id.clone())
    }

    fn is_superseded(&self, entry: &TimelineEntry, _chat: &Chat) -> bool {
        entry.content.call().is_none_or(|call| call.status.is_final())
    }

    /// Returns whether the provider has sent a report about an outgoing call. A report shows that the provider has
    /// accepted the call, even if its response was lost, so the call must not be placed again.
    fn has_accepted(&self, entry: &TimelineEntry, _chat: &Chat) -> bool {
        let is_outgoing = |call: &&Call| call.kind != CallKind::Incoming;
        entry.content.call().filter(is_outgoing).is_some_and(|call| call.is_acknowledged)
    }

    /// Queues the check of the call's time limit, then places the call. Rejects a call that was not placed in time. An
    /// incoming call is not placed, because the visitor has placed it.
    fn send<'a>(&'a self, entry: &'a TimelineEntry, _chat: &'a Chat, timeout: Duration) -> AttemptFuture<'a> {
        Box::pin(async move {
            let Some(call) = entry.content.call() else {
                return Err(Error::internal("the entry has no call"));
            };
            let now = clock::now();
            if call.kind != CallKind::Incoming && call.is_outdated(now) {
                return Ok(reject_unsent("the call was not placed in time"));
            }
            self.outbox
                .send_delayed(Target::Call, &Task::call_due(entry), check_delay(call.first_check_delay()))
                .await?;
            if call.kind == CallKind::Incoming {
                let attempt = Attempt { at: now, status: None, duration_ms: 0, error: None, answer: None };
                return Ok((Outcome::Delivered, attempt));
            }
            self.place(entry, call, timeout).await
        })
    }

    /// If the call could not be placed, marks it as failed, unless the provider has reported it in the meantime. If the
    /// process dies before the result is stored, the attempt is repeated, so the failure is not lost.
    fn update_to_record<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        _chat: &'a Chat,
        _attempt: &'a Attempt,
        update: DeliveryUpdate,
    ) -> UpdateFuture<'a> {
        Box::pin(async move {
            if !matches!(update, DeliveryUpdate::Failed { .. }) {
                return Ok(update);
            }
            let TimelineEntry { account_id, chat_id, seq, .. } = entry;
            self.report(entry, &CallReport::NotPlaced).await?;
            let current = self.chats.entry(account_id, *chat_id, *seq).await?;
            let call = current.as_ref().and_then(|entry| entry.content.call());
            Ok(if call.is_some_and(|call| call.is_acknowledged) { DeliveryUpdate::Delivered } else { update })
        })
    }
}

impl TelephonyReceiver<'_> {
    async fn place(&self, entry: &TimelineEntry, call: &Call, timeout: Duration) -> Result<(Outcome, Attempt), Error> {
        let TimelineEntry { account_id, chat_id, id, .. } = entry;
        let Some(telephony) = self.directory.cached_telephony(account_id).await? else {
            return Ok(reject_unsent("the account has no telephony provider"));
        };
        let Some(agent) = &call.agent else { return Ok(reject_unsent("the call has no agent")) };
        let place = async |telephony: &Telephony, timeout| {
            let order = CallOrder { telephony, account_id, chat_id: *chat_id, call_id: id, call, agent };
            telephony::adapter(&telephony.provider).place(&order, self.outbound, timeout).await
        };
        let (outcome, attempt) = place(&telephony, timeout).await?;
        // The cached secret may have been replaced, and the refusal would be final.
        if attempt.is_unauthorized()
            && let Some(current) = self.directory.reread_telephony(account_id).await?
            && current.provider != telephony.provider
        {
            return place(&current, timeout.saturating_sub(Duration::from_millis(attempt.duration_ms))).await;
        }
        Ok((outcome, attempt))
    }

    /// Marks the call as failed if its time limit has passed. Queues the next check if the call is still in progress,
    /// and does nothing if it has ended. If a table or a queue is unavailable, the check is postponed, because nothing
    /// else ends a call whose provider no longer reports.
    ///
    /// # Errors
    /// Fails if the retry queue is unavailable or a stored item is invalid. The task can be repeated.
    pub async fn check_time_limit(&self, task: &CallCheckTask) -> Result<(), Error> {
        match self.try_check_time_limit(task).await {
            Err(Error::Unavailable(context)) => {
                let CallCheckTask { account_id, chat_id, seq, .. } = task;
                tracing::warn!(?context, account_id, chat_id, seq, "check of a call's time limit postponed");
                self.outbox.send_delayed(Target::Call, &Task::CallDue(task.clone()), UNAVAILABLE_RETRY_DELAY).await
            }
            result => result,
        }
    }

    async fn try_check_time_limit(&self, task: &CallCheckTask) -> Result<(), Error> {
        let CallCheckTask { v: _, account_id, chat_id, seq } = task;
        let Some(entry) = self.chats.entry(account_id, *chat_id, *seq).await? else { return Ok(()) };
        let ordered_at = accepted_order_at(&entry);
        match entry.content.call().map(|call| call.check(ordered_at, clock::now())) {
            None | Some(CallCheck::Finished) => Ok(()),
            Some(CallCheck::Waiting(delay)) => {
                self.outbox.send_delayed(Target::Call, &Task::call_due(&entry), check_delay(delay)).await
            }
            Some(CallCheck::TimedOut) => {
                tracing::warn!(account_id, chat_id, seq, "call ended: its provider stopped reporting");
                if self.report(&entry, &CallReport::TimedOut { ordered_at }).await? {
                    return Ok(());
                }
                // The provider has reported something in the meantime, so the call has a new time limit or has ended.
                self.outbox.send_delayed(Target::Call, &Task::call_due(&entry), REPEATED_CHECK_DELAY).await
            }
        }
    }

    /// Applies a report to the call and queues the resulting webhook events. Returns whether the report has changed the
    /// call.
    async fn report(&self, entry: &TimelineEntry, report: &CallReport) -> Result<bool, Error> {
        let TimelineEntry { account_id, chat_id, seq, .. } = entry;
        let (chat_id, seq) = (*chat_id, *seq);
        let reported = ReportedCall { account_id, chat_id, seq, call_id: None, report, provider_call_id: None };
        let settings = self.directory.cached_settings(account_id).await?;
        let Some(changed) = report_call(self.chats, &reported, &settings.webhooks, clock::now()).await? else {
            return Ok(false);
        };
        self.outbox.enqueue(&changed.notifications).await;
        Ok(true)
    }
}

/// Returns the delay of a check in whole seconds, at most [`MAX_QUEUE_DELAY`]. It is rounded up, because a check that
/// runs too early only queues another check.
fn check_delay(delay: Duration) -> Duration {
    let started_second = u64::from(delay.subsec_nanos() > 0);
    Duration::from_secs(delay.as_secs() + started_second).min(MAX_QUEUE_DELAY)
}

/// Returns the time of the last recorded attempt to order the call. Returns `None` if no attempt is recorded, and while
/// the delivery is pending, because another attempt may follow.
fn accepted_order_at(entry: &TimelineEntry) -> Option<Timestamp> {
    let delivery = entry.delivery.as_ref().filter(|delivery| delivery.state != DeliveryState::Pending)?;
    delivery.attempts.last().map(|attempt| attempt.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limit_is_never_checked_early() {
        for (ms, seconds) in [(0, 0), (1, 1), (400, 1), (1_000, 1), (39_400, 40), (10_000_000, 900)] {
            assert_eq!(check_delay(Duration::from_millis(ms)), Duration::from_secs(seconds), "{ms}");
        }
    }
}
