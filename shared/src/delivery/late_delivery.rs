//! Attempts deliveries again that the outage of a receiver has delayed: one twice a minute (a probe), or, when the
//! receiver works again, all of them (a drain).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::try_join_all;

use crate::delivery::engine::Receiver;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery_search_and_replay::{DeliveryCursor, DeliveryFilter, SortOrder};
use crate::domain::deliveries::outage::{MAX_FAILURES_IN_DRAIN, Outage, OutageKey, OutageStatus};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::outbox::Outbox;
use crate::store::chats::Chats;
use crate::store::chats::delivery::delivery_listing::{DeliveryPage, DeliveryQuery};
use crate::wire::queue_task::{DrainPosition, OutageTask, Task};

const MAX_DELIVERIES_PER_DRAIN_STEP: usize = 100;
/// Each page examines up to 500 failed deliveries of the account.
const MAX_PAGES_PER_PROBE: usize = 10;
/// The time between two steps of a drain, so that new messages need not wait behind all delayed ones.
const DRAIN_STEP_INTERVAL: Duration = Duration::from_secs(1);

pub struct LateDelivery<'a> {
    pub chats: &'a Chats,
    pub outbox: &'a Outbox,
    pub receiver: &'a dyn Receiver,
}

impl LateDelivery<'_> {
    /// Handles a task of the receiver's retry queue.
    pub async fn run(&self, task: OutageTask) -> Result<(), Error> {
        let OutageTask { v: _, account_id, receiver_id, drain } = task;
        let key = OutageKey { account_id, target: self.receiver.target(), receiver_id };
        let Some(outage) = self.chats.outage(&key).await? else { return Ok(()) };
        if outage.status == OutageStatus::SwitchedOff {
            return Ok(());
        }
        match drain {
            None => self.probe(&outage).await,
            Some(position) => self.drain_step(&outage, &position).await,
        }
    }

    /// Queues an attempt at one of the delayed deliveries: the one after the last probed one, or the oldest one.
    async fn probe(&self, outage: &Outage) -> Result<(), Error> {
        let mut after = outage.probed;
        for _ in 0..MAX_PAGES_PER_PROBE {
            let now = clock::now();
            let DeliveryPage { rows, next } =
                self.delayed(&outage.key, after, MAX_DELIVERIES_PER_DRAIN_STEP, now).await?;
            if let Some(entry) = self.first_to_attempt(&rows, now).await? {
                let probed = DeliveryCursor { at: Some(entry.at), chat_id: entry.chat_id, seq: entry.seq };
                self.chats.record_probe(&outage.key, probed).await?;
                return self.queue(&[entry]).await;
            }
            if next.is_none() && after.is_none() {
                return self.chats.mark_outage_over(outage).await;
            }
            after = next;
        }
        // The pages were full of the failures of other receivers. The next probe continues behind them.
        match after {
            Some(position) => self.chats.record_probe(&outage.key, position).await,
            None => Ok(()),
        }
    }

    /// Returns the first of the deliveries that the strict order of its chat allows to attempt.
    async fn first_to_attempt<'a>(
        &self,
        rows: &'a [(Chat, TimelineEntry)],
        now: Timestamp,
    ) -> Result<Option<&'a TimelineEntry>, Error> {
        let is_strict = self.has_strict_order(rows).await?;
        for entry in to_attempt(rows, is_strict) {
            if !is_strict || self.chats.earlier_undelivered(entry, now).await?.is_none() {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    async fn has_strict_order(&self, rows: &[(Chat, TimelineEntry)]) -> Result<bool, Error> {
        let Some((chat, entry)) = rows.first() else { return Ok(false) };
        let policy = self.receiver.outage_policy(entry, chat).await?;
        Ok(policy.is_some_and(|policy| policy.options.strict_order))
    }

    /// Queues attempts at a page of the delayed deliveries, and the next step of the drain.
    async fn drain_step(&self, outage: &Outage, position: &DrainPosition) -> Result<(), Error> {
        let now = clock::now();
        if outage.failed_probes >= MAX_FAILURES_IN_DRAIN {
            return Ok(());
        }
        let after = position.after.as_deref().and_then(DeliveryCursor::parse);
        let page = self.delayed(&outage.key, after, MAX_DELIVERIES_PER_DRAIN_STEP, now).await?;
        self.queue(&to_attempt(&page.rows, self.has_strict_order(&page.rows).await?)).await?;
        self.chats.record_drain_step(&outage.key, now).await?;
        let Some(next) = page.next else { return Ok(()) };
        let next = DrainPosition { after: Some(next.to_text()) };
        let task = Task::outage(&outage.key, Some(next));
        self.outbox.send_delayed(outage.key.target, &task, DRAIN_STEP_INTERVAL).await
    }

    /// Records that the receiver works. Starts a drain and returns true, unless one is in progress or the receiver has
    /// no outage.
    pub(crate) async fn record_success(&self, key: &OutageKey, now: Timestamp) -> Result<bool, Error> {
        if !self.chats.record_success_in_outage(key, now).await? || !self.chats.start_drain(key, now).await? {
            return Ok(false);
        }
        let (account_id, target, receiver_id) = (&key.account_id, key.target.name(), &key.receiver_id);
        tracing::info!(account_id, target, receiver_id, "receiver works again: its delayed deliveries follow");
        let task = Task::outage(key, Some(DrainPosition { after: None }));
        self.outbox.send_delayed(key.target, &task, Duration::ZERO).await.map(|()| true)
    }

    /// Records that a delivery fails because of an outage.
    pub(crate) async fn record_failure(&self, key: &OutageKey, now: Timestamp) -> Result<(), Error> {
        if self.chats.record_failure_in_outage(key, now).await? {
            let (account_id, target, receiver_id) = (&key.account_id, key.target.name(), &key.receiver_id);
            tracing::warn!(account_id, target, receiver_id, "outage of a receiver: its deliveries are delayed");
        }
        Ok(())
    }

    /// Reads a page of the delayed deliveries, oldest first. A position that is older than the late period is ignored.
    async fn delayed(
        &self,
        key: &OutageKey,
        after: Option<DeliveryCursor>,
        limit: usize,
        now: Timestamp,
    ) -> Result<DeliveryPage, Error> {
        let filter = &DeliveryFilter::delayed_by_outage(key, now);
        let after = after.filter(|cursor| cursor.at.is_some_and(|at| at >= filter.from));
        let (account_id, order) = (&*key.account_id, SortOrder::OldestFirst);
        self.chats.failures(DeliveryQuery { account_id, filter, order, after, limit, now }).await
    }

    /// Queues late attempts: those of a chat one after the other, those of different chats concurrently.
    async fn queue(&self, entries: &[&TimelineEntry]) -> Result<(), Error> {
        let mut chats = BTreeMap::<u64, Vec<&TimelineEntry>>::new();
        entries.iter().for_each(|entry| chats.entry(entry.chat_id).or_default().push(entry));
        try_join_all(chats.into_values().map(|entries| self.queue_in_order(entries))).await.map(|_| ())
    }

    async fn queue_in_order(&self, entries: Vec<&TimelineEntry>) -> Result<(), Error> {
        for entry in entries {
            self.outbox.send_late_attempt(entry).await?;
        }
        Ok(())
    }
}

/// Returns the delayed deliveries that can be attempted. In strict order, only the oldest of each chat can be: each
/// success queues the next one.
fn to_attempt(rows: &[(Chat, TimelineEntry)], is_strict: bool) -> Vec<&TimelineEntry> {
    let mut chats = BTreeSet::new();
    let entries = rows.iter().map(|(_, entry)| entry);
    entries.filter(|entry| chats.insert(entry.chat_id) || !is_strict).collect()
}
