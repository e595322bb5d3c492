//! Sends the messages that agents have planned, when their time has come.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::chats::agent::plan_message::{
    delete_if_chat_is_gone, replace_message_of_deleted_agent, send_planned_message,
};
use crate::domain::chats::planned_message::PlannedMessage;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::store::chats::Chats;
use crate::store::directory::Directory;

/// A batch read has at most as many items.
const PAGE_SIZE: i32 = 100;
const CONCURRENT_MESSAGES: usize = 10;
/// Nothing is sent for a suspended account. Its messages become due again after this time, so that they do not delay
/// those of others.
const SUSPENSION_CHECK_INTERVAL: Duration = Duration::from_secs(60 * 60);

pub struct PlannedMessages<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub outbox: &'a Outbox,
}

impl PlannedMessages<'_> {
    /// Sends the messages that are due. Starts none after the deadline; the next run continues. Returns the number of
    /// messages that could not be handled; each is logged, and the next run tries it again.
    pub async fn send_due(&self, now: Timestamp, deadline: Instant) -> u32 {
        let (mut failed, mut after) = (0, None);
        loop {
            let page = match self.chats.due_planned_messages(now, after, PAGE_SIZE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(context = error.context(), "planned messages not read: {error}");
                    return failed + 1;
                }
            };
            failed += self.send_page(&page.messages, now, deadline).await;
            after = page.next;
            if after.is_none() || Instant::now() >= deadline {
                return failed;
            }
        }
    }

    async fn send_page(&self, messages: &[PlannedMessage], now: Timestamp, deadline: Instant) -> u32 {
        let mut failed = 0;
        for messages in messages.chunks(CONCURRENT_MESSAGES) {
            if Instant::now() >= deadline {
                break;
            }
            let handled = messages.iter().map(|planned| self.send_or_log(planned, now));
            failed += join_all(handled).await.into_iter().map(|is_handled| u32::from(!is_handled)).sum::<u32>();
        }
        failed
    }

    async fn send_or_log(&self, planned: &PlannedMessage, now: Timestamp) -> bool {
        let Err(error) = self.send(planned, now).await else { return true };
        let PlannedMessage { account_id, chat_id, planned_id, .. } = planned;
        tracing::error!(
            context = error.context(),
            account_id,
            chat_id,
            planned_id,
            "planned message not sent: {error}"
        );
        false
    }

    async fn send(&self, planned: &PlannedMessage, now: Timestamp) -> Result<(), Error> {
        let settings = self.directory.cached_settings(&planned.account_id).await?;
        if settings.suspended_at.is_some() {
            delete_if_chat_is_gone(self.chats, planned).await?;
            return self.chats.postpone_planned(planned, now.plus(SUSPENSION_CHECK_INTERVAL)).await;
        }
        if !self.chats.claim_planned_message(planned, now).await? {
            return delete_if_chat_is_gone(self.chats, planned).await;
        }
        if self.directory.agent(&planned.account_id, planned.agent.agent_id).await?.is_none() {
            return replace_message_of_deleted_agent(self.chats, planned, now).await;
        }
        if let Some(sent) = send_planned_message(self.chats, planned, &settings.webhooks, now).await? {
            self.outbox.enqueue_message(&planned.account_id, &sent.receipt).await;
            self.outbox.enqueue(&sent.notifications).await;
        }
        Ok(())
    }
}
