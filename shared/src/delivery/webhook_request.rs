//! Builds the requests to the webhooks of accounts from the stored entries (specification, part C).

use serde_json::{Value, json};

use crate::delivery::aws_message::AwsMessage;
use crate::delivery::engine::OutagePolicy;
use crate::delivery::outbound_client::{SWITCHED_OFF, reject_unsent, retry_unsent};
use crate::delivery::signed_post::{JSON_CONTENT_TYPE, SignedPost, Signing};
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, Outcome};
use crate::domain::deliveries::outage::{OutageKey, OutageStatus};
use crate::domain::deliveries::webhook::{
    BodyDetail, BodyFormat, MAX_WEBHOOKS, Webhook, WebhookDispatch, WebhookTarget,
};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::chats::listing::transcript::TranscriptLimits;
use crate::store::directory::Directory;
use crate::wire::admin::receiver_test::SentRequest;
use crate::wire::webhooks::cloud_event::{self, CloudEvent};
use crate::wire::webhooks::thin_event::ThinEvent;
use crate::wire::webhooks::webhook_event::{self, StatusChanged, WebhookPayload};

/// The maximum number of entries that are read for chat_finished. The oldest entries of a longer chat are left out.
const MAX_TRANSCRIPT_ENTRIES: usize = 10_000;

const REMOVED: &str = "the webhook was removed";

pub(crate) struct WebhookRequests<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
}

/// An event for a webhook.
pub(crate) struct OutgoingEvent<'a> {
    /// The `webhook-id`.
    pub id: &'a str,
    /// When the event happened.
    pub at: Timestamp,
    pub name: &'static str,
    pub body: Value,
}

impl OutgoingEvent<'_> {
    /// Returns the body as the webhook wants it, with its content type.
    pub(crate) fn formatted(&self, webhook: &Webhook) -> Result<(String, &'static str), Error> {
        let Self { id, at, name: _, body } = self;
        let body = match webhook.detail {
            BodyDetail::Full => body,
            BodyDetail::Thin => &json!(ThinEvent::of(body)?),
        };
        Ok(match webhook.format {
            BodyFormat::Json => (body.to_string(), JSON_CONTENT_TYPE),
            BodyFormat::CloudEvents => (json!(CloudEvent::new(id, *at, body)).to_string(), cloud_event::CONTENT_TYPE),
        })
    }

    /// Returns the user token in the body, which is hidden from admins, because it is often a credential of the
    /// customer's site.
    pub(crate) fn user_tokens(&self) -> Vec<String> {
        self.body.get("user_token").and_then(Value::as_str).map(str::to_owned).into_iter().collect()
    }
}

fn dispatch_of(entry: &TimelineEntry) -> Result<&WebhookDispatch, Error> {
    entry.webhook_dispatch.as_ref().ok_or_else(|| Error::internal("the webhook entry has no dispatch"))
}

pub(crate) fn outage_key(account_id: &str, webhook: &Webhook) -> OutageKey {
    let (account_id, receiver_id) = (account_id.to_owned(), webhook.webhook_id.clone());
    OutageKey { account_id, target: webhook.target.delivery_target(), receiver_id }
}

/// Returns the id of an entry's webhook among those of all accounts.
pub(super) fn receiver_id(entry: &TimelineEntry) -> Option<String> {
    let webhook_dispatch = entry.webhook_dispatch.as_ref()?;
    Some(format!("{}#{}", entry.account_id, webhook_dispatch.webhook_id))
}

/// Returns a request to a webhook. It will be signed with all secrets of the webhook that are valid at `now`.
pub(crate) fn signed_post(webhook: &Webhook, event: &OutgoingEvent, now: Timestamp) -> Result<SignedPost, Error> {
    let (body, content_type) = event.formatted(webhook)?;
    let url = match webhook.target {
        WebhookTarget::Server => Some(url::Url::parse(&webhook.url).map_err(Error::internal)?),
        WebhookTarget::Sqs | WebhookTarget::EventBridge | WebhookTarget::Pull => None,
    };
    Ok(SignedPost {
        url,
        shown_url: None,
        body: body.into_bytes(),
        content_type,
        id: event.id.to_owned(),
        secrets: webhook.valid_secrets(now),
        signing: Signing::Right,
        chunked: false,
        hidden: event.user_tokens(),
    })
}

impl WebhookRequests<'_> {
    /// Returns the request that delivers an entry. The inner error is the reason why the entry cannot be sent.
    pub(crate) async fn compose(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
    ) -> Result<Result<SignedPost, &'static str>, Error> {
        match self.webhook(entry, &dispatch_of(entry)?.webhook_id).await? {
            Some(webhook) => self.compose_for(&webhook, entry, chat).await,
            None => Ok(Err(REMOVED)),
        }
    }

    /// Returns the message to a queue or an event bus that delivers an entry, as admins see it, with the time `sent_at`.
    /// The inner error is the reason why the entry cannot be sent.
    pub(crate) async fn shown_aws_message(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        sent_at: Timestamp,
    ) -> Result<Result<SentRequest, &'static str>, Error> {
        let dispatch = dispatch_of(entry)?;
        let Some(webhook) = self.webhook(entry, &dispatch.webhook_id).await? else { return Ok(Err(REMOVED)) };
        Ok(self.event(&webhook, entry, dispatch, chat).await?.and_then(|event| {
            let message = AwsMessage::new(&entry.account_id, &webhook, &event, chat.chat_id, sent_at)?;
            Ok(message.shown())
        }))
    }

    /// Like [`compose`](Self::compose), for the webhook of the entry.
    pub(crate) async fn compose_for(
        &self,
        webhook: &Webhook,
        entry: &TimelineEntry,
        chat: &Chat,
    ) -> Result<Result<SignedPost, &'static str>, Error> {
        match self.event(webhook, entry, dispatch_of(entry)?, chat).await? {
            Ok(event) => signed_post(webhook, &event, clock::now()).map(Ok),
            Err(obstacle) => Ok(Err(obstacle)),
        }
    }

    /// Returns the webhook of an entry if a program fetches its events.
    pub(super) async fn fetcher(&self, entry: &TimelineEntry) -> Result<Option<OutageKey>, Error> {
        let (account_id, webhook_id) = (&entry.account_id, &dispatch_of(entry)?.webhook_id);
        let webhook = self.cached_webhook(account_id, webhook_id).await?;
        let webhook = webhook.filter(|webhook| webhook.target == WebhookTarget::Pull);
        Ok(webhook.map(|webhook| outage_key(account_id, &webhook)))
    }

    /// Returns the outage policy of an entry's webhook; see
    /// [`Receiver::outage_policy`](crate::delivery::engine::Receiver::outage_policy).
    pub(super) async fn outage_policy(&self, entry: &TimelineEntry) -> Result<Option<OutagePolicy>, Error> {
        let dispatch = entry.webhook_dispatch.as_ref().filter(|dispatch| dispatch.event.is_attempted_late());
        let Some(WebhookDispatch { webhook_id, .. }) = dispatch else { return Ok(None) };
        let webhook = self.webhook(entry, webhook_id).await?;
        Ok(webhook.map(|webhook| {
            let key = outage_key(&entry.account_id, &webhook);
            OutagePolicy { key, options: webhook.delivery, status: webhook.outage_status }
        }))
    }

    /// Returns what an attempt sends, and where: the webhook, the kind of event and the event. The inner error is the
    /// result of an attempt that sends nothing.
    pub(super) async fn to_send<'e>(
        &self,
        entry: &'e TimelineEntry,
        chat: &Chat,
    ) -> Result<Result<(Webhook, WebhookEvent, OutgoingEvent<'e>), (Outcome, Attempt)>, Error> {
        let dispatch = dispatch_of(entry)?;
        let Some(webhook) = self.webhook(entry, &dispatch.webhook_id).await? else {
            return Ok(Err(reject_unsent(REMOVED)));
        };
        if webhook.outage_status == OutageStatus::SwitchedOff {
            return Ok(Err(retry_unsent(SWITCHED_OFF)));
        }
        let event = self.event(&webhook, entry, dispatch, chat).await?;
        Ok(event.map(|event| (webhook, dispatch.event, event)).map_err(reject_unsent))
    }

    async fn event<'e>(
        &self,
        webhook: &Webhook,
        entry: &'e TimelineEntry,
        webhook_dispatch: &WebhookDispatch,
        chat: &Chat,
    ) -> Result<Result<OutgoingEvent<'e>, &'static str>, Error> {
        if let Some(change) = &webhook_dispatch.status {
            let agents = self.directory.agents_by_id(&chat.account_id, &webhook_dispatch.agent_ids(chat)).await?;
            let happened = (webhook_dispatch.event, entry.seq, entry.at);
            let body = json!(StatusChanged::new(happened, change, agents.first()));
            let (id, at, name) = (&*entry.id, entry.at, webhook_dispatch.event.name());
            return Ok(Ok(OutgoingEvent { id, at, name, body }));
        }
        let Some(visitor) = self.chats.visitor(&chat.channel_id, &chat.external_id).await? else {
            return Ok(Err("the visitor was erased"));
        };
        let timeline = self.entries_in_body(webhook, entry, webhook_dispatch, chat).await?;
        let body = self.body(entry, webhook_dispatch, chat, &visitor, &timeline).await?;
        Ok(Ok(OutgoingEvent { id: &entry.id, at: entry.at, name: webhook_dispatch.event.name(), body }))
    }

    async fn body(
        &self,
        entry: &TimelineEntry,
        webhook_dispatch: &WebhookDispatch,
        chat: &Chat,
        visitor: &Visitor,
        timeline: &[TimelineEntry],
    ) -> Result<Value, Error> {
        let agents = self.directory.agents_by_id(&chat.account_id, &webhook_dispatch.agent_ids(chat)).await?;
        let invite = if webhook_dispatch.event == WebhookEvent::ChatFinished && chat.invite_hash.is_some() {
            self.chats.panel(&chat.account_id, chat.chat_id).await?.invite
        } else {
            None
        };
        let payload = WebhookPayload {
            webhook_dispatch,
            entry: (entry.seq, entry.at),
            chat,
            visitor,
            agents: &agents,
            timeline,
            invite,
        };
        Ok(payload.body())
    }

    /// Reads the messages of the chat that the body contains.
    async fn entries_in_body(
        &self,
        webhook: &Webhook,
        entry: &TimelineEntry,
        webhook_dispatch: &WebhookDispatch,
        chat: &Chat,
    ) -> Result<Vec<TimelineEntry>, Error> {
        if let Some(seq) = webhook_dispatch.message_seq {
            let message = self.chats.entry(&chat.account_id, chat.chat_id, seq).await?;
            return Ok(message.into_iter().collect());
        }
        match (webhook_dispatch.event, webhook.detail) {
            (WebhookEvent::ChatFinished, BodyDetail::Full) => self.transcript(chat).await,
            (WebhookEvent::OfflineMessage, _) => self.entries_before(entry).await,
            _ => Ok(Vec::new()),
        }
    }

    /// Reads the entries just before an offline_message notification. It reads more entries than a message can have
    /// notifications, so the visitor's last message among them is the offline message.
    async fn entries_before(&self, entry: &TimelineEntry) -> Result<Vec<TimelineEntry>, Error> {
        let after = entry.seq.saturating_sub(2 * MAX_WEBHOOKS as u64 + 2);
        let limit = i32::try_from(entry.seq - after - 1).map_err(Error::internal)?;
        self.chats.timeline(&entry.account_id, entry.chat_id, after, limit.max(1)).await
    }

    /// Reads the chat's newest entries, as many as a chat_finished event can contain. Entries whose retention period
    /// has ended are left out.
    async fn transcript(&self, chat: &Chat) -> Result<Vec<TimelineEntry>, Error> {
        let limits = TranscriptLimits {
            max_entries: MAX_TRANSCRIPT_ENTRIES,
            max_bytes: webhook_event::MAX_TRANSCRIPT_BYTES,
            entry_bytes: webhook_event::transcript_bytes,
        };
        let mut entries = self.chats.last_entries(&chat.account_id, chat.chat_id, limits).await?;
        let now = clock::now();
        entries.retain(|entry| !entry.is_expired(now));
        Ok(entries)
    }

    /// Returns the webhook of an entry, or `None` if it was removed. If the cached settings do not contain the webhook,
    /// reads the settings again, because the webhook may be new. Also reads them again if the signing secret may have
    /// been replaced.
    pub(super) async fn webhook(&self, entry: &TimelineEntry, webhook_id: &str) -> Result<Option<Webhook>, Error> {
        let account_id = &entry.account_id;
        if entry.may_have_outdated_secret() {
            return Ok(find(&*self.directory.fresh_settings(account_id).await?, webhook_id));
        }
        self.cached_webhook(account_id, webhook_id).await
    }

    async fn cached_webhook(&self, account_id: &str, webhook_id: &str) -> Result<Option<Webhook>, Error> {
        match find(&*self.directory.cached_settings(account_id).await?, webhook_id) {
            Some(webhook) => Ok(Some(webhook)),
            None => Ok(find(&*self.directory.fresh_settings(account_id).await?, webhook_id)),
        }
    }
}

fn find(settings: &AccountSettings, webhook_id: &str) -> Option<Webhook> {
    settings.webhooks.iter().find(|webhook| webhook.webhook_id == webhook_id).cloned()
}
