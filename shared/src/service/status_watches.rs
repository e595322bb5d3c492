//! Reports the changes of the statuses of agents and channels to webhooks, once a minute.

use std::time::Instant;

use futures_util::future::join_all;

use crate::chats::notifications::{NotificationContent, NotificationContext};
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent_presence::AgentStatus;
use crate::domain::accounts::status_watch::{StatusChange, StatusOwner, StatusWatch, Statuses};
use crate::domain::channels::channel_availability::ChannelAvailability;
use crate::domain::chats::chat::Chat;
use crate::domain::deliveries::webhook::{Webhook, WebhookEventDetails};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::store::chats::Chats;
use crate::store::chats::status_watches::account_events_header;
use crate::store::connections::Connections;
use crate::store::directory::Directory;

const CONCURRENT_ACCOUNTS: usize = 20;
/// The events and the statuses are stored in one transaction, which can have 100 writes. Further changes are reported
/// a minute later.
const MAX_EVENTS: usize = 90;
/// How long an event is kept, if only to show its delivery.
const RETENTION_DAYS: u32 = 30;

pub struct StatusWatches<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
    pub outbox: &'a Outbox,
}

impl StatusWatches<'_> {
    /// Compares the statuses of all accounts that have a webhook for them. Returns the number of accounts that could
    /// not be handled; each is logged. No account is begun after the deadline.
    pub async fn report_changes(&self, now: Timestamp, deadline: Instant) -> u32 {
        let accounts = match self.chats.watched_accounts().await {
            Ok(accounts) => accounts,
            Err(error) => {
                tracing::error!(context = error.context(), "watched accounts not read: {error}");
                return 1;
            }
        };
        let mut failed = 0;
        for accounts in accounts.chunks(CONCURRENT_ACCOUNTS) {
            if Instant::now() >= deadline {
                tracing::warn!("not all statuses compared in time");
                break;
            }
            let handled = accounts.iter().map(|account_id| self.handle_or_log(account_id, now));
            failed += join_all(handled).await.into_iter().map(|is_handled| u32::from(!is_handled)).sum::<u32>();
        }
        failed
    }

    async fn handle_or_log(&self, account_id: &str, now: Timestamp) -> bool {
        let Err(error) = self.handle(account_id, now).await else { return true };
        tracing::error!(context = error.context(), account_id, "statuses not compared: {error}");
        false
    }

    async fn handle(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        let settings = self.directory.fresh_settings(account_id).await?;
        if !settings.webhooks.iter().any(Webhook::reports_statuses) {
            return self.chats.end_status_watch(account_id, now).await;
        }
        let Some(watch) = self.chats.status_watch(account_id).await? else { return Ok(()) };
        let mut current = self.statuses(account_id, &settings, now).await?;
        let mut contents = Vec::new();
        for change in watch.changes(&current) {
            let of_change = contents_of(&settings, &change, now);
            if contents.len() + of_change.len() > MAX_EVENTS {
                // Keep what was reported last, so that the next comparison finds the change again.
                keep_reported(&mut current, &watch, &change.owner);
            } else {
                contents.extend(of_change);
            }
        }
        if watch.reported.as_ref() == Some(&current) {
            return Ok(());
        }
        let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now };
        let (seq, retention_days) = (watch.last_seq, Some(RETENTION_DAYS));
        let mut header = Chat { seq, retention_days, updated_at: now, ..account_events_header(account_id) };
        let events = context.create_entries(&mut header, contents)?;
        if self.chats.store_statuses(&watch, &current, &events).await? {
            self.outbox.enqueue(&events).await;
        }
        Ok(())
    }

    async fn statuses(&self, account_id: &str, settings: &AccountSettings, now: Timestamp) -> Result<Statuses, Error> {
        let (agents, _) = self.directory.agents_and_departments(account_id).await?;
        let presences = self.connections.presences(account_id).await?;
        let status_of = |agent_id| {
            let presence = presences.iter().find(|presence| presence.agent_id == agent_id);
            presence.map_or(AgentStatus::Offline, |presence| presence.current_status(now))
        };
        let mut statuses: Statuses =
            agents.iter().map(|agent| (StatusOwner::Agent(agent.agent_id), status_of(agent.agent_id))).collect();
        for channel in self.directory.channels(account_id).await? {
            let is_enabled = ChannelAvailability::of_closed_channel(&channel, settings).is_none();
            let is_online = is_enabled
                && self.directory.audience(&channel).await?.has_online_agent(&presences, now)
                && self.directory.is_open(&channel, None, now).await?;
            let status = if is_online { AgentStatus::Online } else { AgentStatus::Offline };
            statuses.insert(StatusOwner::Channel(channel.channel_id), status);
        }
        Ok(statuses)
    }
}

fn contents_of(settings: &AccountSettings, change: &StatusChange, now: Timestamp) -> Vec<NotificationContent> {
    let (event, agent_id) = match &change.owner {
        StatusOwner::Agent(agent_id) => (WebhookEvent::AgentStatusChanged, Some(*agent_id)),
        StatusOwner::Channel(_) => (WebhookEvent::ChannelStatusChanged, None),
    };
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id, now };
    context.webhook_notifications(event, WebhookEventDetails { status: Some(change), ..WebhookEventDetails::default() })
}

fn keep_reported(current: &mut Statuses, watch: &StatusWatch, owner: &StatusOwner) {
    match watch.reported.as_ref().and_then(|reported| reported.get(owner)) {
        Some(status) => current.insert(owner.clone(), *status),
        None => current.remove(owner),
    };
}
