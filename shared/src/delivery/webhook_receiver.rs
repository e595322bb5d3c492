//! Delivery of events to the webhooks of an account (specification, part C), and what their answers change.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::delivery::engine::Receiver;
use crate::delivery::outbound::{Exchange, Outbound, Post, refused};
use crate::domain::chat::Chat;
use crate::domain::delivery::{Attempt, DeliveryUpdate, Failure, Outcome, Target};
use crate::domain::entry::Entry;
use crate::domain::panel::Assignment;
use crate::domain::settings::Settings;
use crate::domain::visitor::{Profile, Source, Visitor};
use crate::domain::webhook::{Webhook, WebhookDispatch, WebhookEvent};
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::chats::transcript::Limits;
use crate::store::directory::Directory;
use crate::wire::webhook::{self, Brought, Story, Verdict};

/// Entries of a chat that chat_finished tells of.
const MAX_CHAT_LOG_BYTES: usize = 10_000;

/// The webhooks of the accounts.
pub struct Webhooks<'a> {
    /// Where their addresses are.
    pub directory: &'a Directory,
    /// Where the chats are.
    pub chats: &'a Chats,
    /// How they are called.
    pub outbound: &'a Outbound,
}

impl Receiver for Webhooks<'_> {
    fn target(&self) -> Target {
        Target::Webhook
    }

    fn receiver_id(&self, entry: &Entry, _chat: &Chat) -> Option<String> {
        let occurrence = entry.occurrence.as_ref()?;
        Some(format!("{}#{}", entry.account_id, occurrence.webhook_id))
    }

    fn send<'a>(
        &'a self,
        entry: &'a Entry,
        chat: &'a Chat,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<(Outcome, Attempt), Error>> {
        Box::pin(async move {
            let Some(occurrence) = &entry.occurrence else {
                return Err(Error::internal("an entry of a webhook without an occurrence"));
            };
            let Some(webhook) = self.webhook(&chat.account_id, &occurrence.webhook_id).await? else {
                return Ok(refused("the webhook was removed"));
            };
            let Some(visitor) = self.chats.visitor(&chat.channel_id, &chat.external_id).await? else {
                return Ok(refused("the visitor was erased"));
            };
            let body = self.body(occurrence, chat, &visitor).await?;
            let url = url::Url::parse(&webhook.url).map_err(Error::internal)?;
            let (id, secrets) = (&entry.id, webhook.signing(clock::now()));
            let exchange =
                self.outbound.post(Post { url, body, id, secrets: &secrets, chunked: false, timeout }).await?;
            self.judge(occurrence.event, chat, exchange).await
        })
    }

    /// A binding that failed is shown to the agent who asked for it.
    fn before_record<'a>(
        &'a self,
        entry: &'a Entry,
        chat: &'a Chat,
        _attempt: &'a Attempt,
        change: DeliveryUpdate,
    ) -> BoxFuture<'a, Result<DeliveryUpdate, Error>> {
        Box::pin(async move {
            let is_assignment =
                entry.occurrence.as_ref().is_some_and(|occurrence| occurrence.event == WebhookEvent::ChatAssigned);
            if let (DeliveryUpdate::Failed(failure, _), true) = (&change, is_assignment)
                && let Some(chat) = self.chats.chat(&chat.account_id, chat.chat_id).await?
            {
                let failed = Assignment::Failed(failure.message.clone());
                self.chats.note_assignment(&chat, &failed, clock::now()).await?;
            }
            Ok(change)
        })
    }
}

impl Webhooks<'_> {
    async fn body(&self, occurrence: &WebhookDispatch, chat: &Chat, visitor: &Visitor) -> Result<Vec<u8>, Error> {
        let agents = self.directory.agents_by_id(&chat.account_id, &occurrence.agent_ids(chat)).await?;
        let timeline = match occurrence.event {
            WebhookEvent::ChatFinished => self.log(chat).await?,
            WebhookEvent::OfflineMessage => self.chats.timeline(&chat.account_id, chat.chat_id, 0, 1).await?,
            WebhookEvent::CallEvent
            | WebhookEvent::ChatAccepted
            | WebhookEvent::ChatAssigned
            | WebhookEvent::ChatUpdated => Vec::new(),
        };
        let invite = if occurrence.event == WebhookEvent::ChatFinished && chat.invite_hash.is_some() {
            self.chats.panel(&chat.account_id, chat.chat_id).await?.invite
        } else {
            None
        };
        let story = Story { occurrence, chat, visitor, agents: &agents, timeline: &timeline, invite };
        Ok(story.body().to_string().into_bytes())
    }

    /// What chat_finished tells: of a long chat the end.
    async fn log(&self, chat: &Chat) -> Result<Vec<Entry>, Error> {
        let limits =
            Limits { entries: MAX_CHAT_LOG_BYTES, weight: webhook::MAX_CHAT_LOG_BYTES, weigh: webhook::weight };
        let mut log = self.chats.last_entries(&chat.account_id, chat.chat_id, limits).await?;
        let now = clock::now();
        log.retain(|entry| !entry.is_expired(now));
        Ok(log)
    }

    /// A webhook that was added in the last seconds is not in the settings that a process remembers.
    async fn webhook(&self, account_id: &str, webhook_id: &str) -> Result<Option<Webhook>, Error> {
        let find = |settings: &Settings| settings.webhooks.iter().find(|it| it.webhook_id == webhook_id).cloned();
        match find(&*self.directory.cached_settings(account_id).await?) {
            Some(webhook) => Ok(Some(webhook)),
            None => Ok(find(&*self.directory.fresh_settings(account_id).await?)),
        }
    }

    /// What an answer brings is stored before the attempt is: a death in between brings it again. While the tables are
    /// busy the answer is lost and the attempt counts as failed; what can never be stored is not asked for again.
    async fn judge(&self, event: WebhookEvent, chat: &Chat, exchange: Exchange) -> Result<(Outcome, Attempt), Error> {
        let (mut brought, mut answer) = (Brought::default(), None);
        let (outcome, attempt) =
            exchange.judge(|received| match webhook::read(event, received.status, &received.body) {
                Verdict::Ok(data) => {
                    brought = *data;
                    Outcome::Delivered
                }
                Verdict::Unconfirmed(excerpt) => {
                    answer = Some(excerpt);
                    Outcome::Delivered
                }
                Verdict::Failure(message) => Outcome::Rejected(Failure { code: None, message, hidden: false }),
                Verdict::TryAgain(reason) => Outcome::TryAgain(reason),
            });
        if outcome != Outcome::Delivered {
            return Ok((outcome, attempt));
        }
        let stored = match event {
            WebhookEvent::ChatAssigned => self.note_binding(chat, answer.as_deref()).await,
            WebhookEvent::CallEvent
            | WebhookEvent::ChatAccepted
            | WebhookEvent::ChatFinished
            | WebhookEvent::ChatUpdated
            | WebhookEvent::OfflineMessage => self.take(chat, brought).await,
        };
        let Err(error) = stored else { return Ok((outcome, Attempt { answer, ..attempt })) };
        let not_stored = || "the answer could not be stored".to_owned();
        let outcome = if matches!(error, Error::Unavailable(_)) {
            Outcome::TryAgain(not_stored())
        } else {
            Outcome::Rejected(Failure { code: None, message: not_stored(), hidden: false })
        };
        tracing::warn!(context = ?error.context(), chat.account_id, chat.chat_id, "a webhook's answer is lost: {error}");
        Ok((outcome, Attempt { error: Some(not_stored()), ..attempt }))
    }

    /// The agent who asked for a binding sees whether it was confirmed.
    async fn note_binding(&self, before: &Chat, unconfirmed: Option<&str>) -> Result<(), Error> {
        let assignment = match unconfirmed {
            None => Assignment::Done,
            Some(answer) => Assignment::Failed(format!("the webhook did not answer with result OK: {answer}")),
        };
        let Some(chat) = self.chats.chat(&before.account_id, before.chat_id).await? else { return Ok(()) };
        self.chats.note_assignment(&chat, &assignment, clock::now()).await
    }

    /// The chat is read anew: it may have ended while the webhook took its seconds to answer, or been erased, and then
    /// nothing may be written about it.
    async fn take(&self, before: &Chat, brought: Brought) -> Result<(), Error> {
        let Brought { panel: change, contacts } = brought;
        if change.is_empty() && contacts == Profile::default() {
            return Ok(());
        }
        let Some(chat) = self.chats.chat(&before.account_id, before.chat_id).await? else { return Ok(()) };
        if !change.is_empty() {
            self.chats.fill_panel(&chat, &change, clock::now()).await?;
        }
        if contacts != Profile::default() {
            self.learn(&chat, &contacts).await?;
        }
        Ok(())
    }

    /// The visitor is read anew: the webhook may have taken seconds to answer, and others go on meanwhile. One who has been
    /// erased learns nothing.
    async fn learn(&self, chat: &Chat, contacts: &Profile) -> Result<(), Error> {
        let Some(mut visitor) = self.chats.visitor(&chat.channel_id, &chat.external_id).await? else { return Ok(()) };
        if !visitor.learn(contacts, Source::Crm) {
            return Ok(());
        }
        match self.chats.save_visitor(&visitor).await {
            Err(Error::NotFound) => Ok(()),
            saved => saved,
        }
    }
}
