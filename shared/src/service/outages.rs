//! The regular work on the outages of receivers: their probes, their reports and their end.

use std::time::Duration;

use futures_util::future::join_all;

use crate::domain::deliveries::outage::{Outage, OutageKey, OutageStatus, SECOND_PROBE_DELAY};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::queue_task::Task;

/// The next run continues with the others.
const MAX_OUTAGES_PER_RUN: i32 = 1_000;
const CONCURRENT_OUTAGES: usize = 20;

pub struct Outages<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub outbox: &'a Outbox,
}

impl Outages<'_> {
    /// Queues the probes that are due, two for each outage. Returns the number of outages that could not be handled; each is logged.
    pub async fn queue_due_probes(&self, now: Timestamp) -> u32 {
        let due = match self.chats.due_outages(now, MAX_OUTAGES_PER_RUN).await {
            Ok(due) => due,
            Err(error) => {
                tracing::error!(context = error.context(), "outages not read: {error}");
                return 1;
            }
        };
        let mut failed = 0;
        for outages in due.chunks(CONCURRENT_OUTAGES) {
            let handled: Vec<_> = outages.iter().map(|outage| self.handle_or_log(&outage.key, now)).collect();
            failed += join_all(handled).await.into_iter().map(|is_handled| u32::from(!is_handled)).sum::<u32>();
        }
        failed
    }

    async fn handle_or_log(&self, key: &OutageKey, now: Timestamp) -> bool {
        let Err(error) = self.handle(key, now).await else { return true };
        let OutageKey { account_id, target, receiver_id } = key;
        let (context, target) = (error.context(), target.name());
        tracing::error!(?context, account_id, target, receiver_id, "outage not handled: {error}");
        false
    }

    async fn handle(&self, key: &OutageKey, now: Timestamp) -> Result<(), Error> {
        let Some(outage) = &self.chats.claim_probe(key, now).await? else { return Ok(()) };
        let status = outage.due_status(now);
        if status != outage.status {
            self.save_status(outage, status).await?;
        }
        if outage.can_end(now) {
            return self.chats.end_outage(outage).await;
        }
        if outage.is_over || status == OutageStatus::SwitchedOff {
            return Ok(());
        }
        let probe = Task::outage(&outage.key, None);
        for delay in [Duration::ZERO, SECOND_PROBE_DELAY] {
            self.outbox.send_delayed(outage.key.target, &probe, delay).await?;
        }
        Ok(())
    }

    /// Stores the status with the receiver's settings first. If the second write fails, the next run repeats both.
    async fn save_status(&self, outage: &Outage, status: OutageStatus) -> Result<(), Error> {
        let OutageKey { account_id, target, receiver_id } = &outage.key;
        let (target_name, status_name) = (target.name(), status.name());
        tracing::warn!(
            account_id,
            target = target_name,
            receiver_id,
            status = status_name,
            "status of an outage changed"
        );
        if target.is_webhook() {
            self.directory.save_webhook_outage(account_id, receiver_id, status).await?;
        } else if let Some(channel) = self.directory.channel(receiver_id).await? {
            self.directory.save_channel_outage(&channel, status).await?;
        }
        self.chats.save_outage_status(outage, status).await
    }
}
