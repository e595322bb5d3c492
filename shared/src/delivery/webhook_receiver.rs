//! Delivers events to the webhooks of an account (specification, part C) and stores the data from their responses: the
//! panel that is shown to the agent, contact details, and the state of a CRM assignment.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::delivery::engine::Receiver;
use crate::delivery::outbound_client::{OutboundClient, PostResult, SignedPost, reject_unsent};
use crate::domain::account_settings::AccountSettings;
use crate::domain::chat::Chat;
use crate::domain::chat_side_panel::CrmCardAssignment;
use crate::domain::delivery::{Attempt, DeliveryUpdate, Failure, Outcome, Target};
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::visitor::{ProfileSource, Visitor, VisitorProfile};
use crate::domain::webhook::{Webhook, WebhookDispatch};
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::chats::transcript::TranscriptLimits;
use crate::store::directory::Directory;
use crate::wire::webhook::{self, WebhookPayload, WebhookResponse, WebhookResponseData};

/// The maximum number of entries in chat_finished. A longer chat is sent without its oldest entries.
const MAX_TRANSCRIPT_ENTRIES: usize = 10_000;

/// Sends entries to the webhooks of accounts.
pub struct WebhookReceiver<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub outbound: &'a OutboundClient,
}

impl Receiver for WebhookReceiver<'_> {
    fn target(&self) -> Target {
        Target::Webhook
    }

    fn receiver_id(&self, entry: &TimelineEntry, _chat: &Chat) -> Option<String> {
        let webhook_dispatch = entry.webhook_dispatch.as_ref()?;
        Some(format!("{}#{}", entry.account_id, webhook_dispatch.webhook_id))
    }

    fn send<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        chat: &'a Chat,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<(Outcome, Attempt), Error>> {
        Box::pin(async move {
            let Some(webhook_dispatch) = &entry.webhook_dispatch else {
                return Err(Error::internal("a webhook's entry without a dispatch"));
            };
            let Some(webhook) = self.webhook(&chat.account_id, &webhook_dispatch.webhook_id).await? else {
                return Ok(reject_unsent("the webhook was removed"));
            };
            let Some(visitor) = self.chats.visitor(&chat.channel_id, &chat.external_id).await? else {
                return Ok(reject_unsent("the visitor was erased"));
            };
            let body = self.body(webhook_dispatch, chat, &visitor).await?;
            let url = url::Url::parse(&webhook.url).map_err(Error::internal)?;
            let (id, secrets) = (&entry.id, webhook.valid_secrets(clock::now()));
            let result =
                self.outbound.post(SignedPost { url, body, id, secrets: &secrets, chunked: false, timeout }).await?;
            self.process_response(webhook_dispatch.event, chat, result).await
        })
    }

    /// If the delivery of chat_assigned fails, stores the failure in the panel, where the agent who requested the
    /// assignment sees it.
    fn update_to_record<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        chat: &'a Chat,
        _attempt: &'a Attempt,
        update: DeliveryUpdate,
    ) -> BoxFuture<'a, Result<DeliveryUpdate, Error>> {
        Box::pin(async move {
            let is_assignment = entry
                .webhook_dispatch
                .as_ref()
                .is_some_and(|webhook_dispatch| webhook_dispatch.event == WebhookEvent::ChatAssigned);
            if let (DeliveryUpdate::Failed(failure, _), true) = (&update, is_assignment)
                && let Some(chat) = self.chats.chat(&chat.account_id, chat.chat_id).await?
            {
                let failed = CrmCardAssignment::Failed(failure.message.clone());
                self.chats.record_assignment(&chat, &failed, clock::now()).await?;
            }
            Ok(update)
        })
    }
}

impl WebhookReceiver<'_> {
    async fn body(&self, webhook_dispatch: &WebhookDispatch, chat: &Chat, visitor: &Visitor) -> Result<Vec<u8>, Error> {
        let agents = self.directory.agents_by_id(&chat.account_id, &webhook_dispatch.agent_ids(chat)).await?;
        let timeline = match webhook_dispatch.event {
            WebhookEvent::ChatFinished => self.transcript(chat).await?,
            WebhookEvent::OfflineMessage => self.chats.timeline(&chat.account_id, chat.chat_id, 0, 1).await?,
            WebhookEvent::CallEvent
            | WebhookEvent::ChatAccepted
            | WebhookEvent::ChatAssigned
            | WebhookEvent::ChatUpdated => Vec::new(),
        };
        let invite = if webhook_dispatch.event == WebhookEvent::ChatFinished && chat.invite_hash.is_some() {
            self.chats.panel(&chat.account_id, chat.chat_id).await?.invite
        } else {
            None
        };
        let payload = WebhookPayload { webhook_dispatch, chat, visitor, agents: &agents, timeline: &timeline, invite };
        Ok(payload.body().to_string().into_bytes())
    }

    /// Reads a chat's newest entries, up to the limits of chat_finished. Entries whose retention period has ended are
    /// left out.
    async fn transcript(&self, chat: &Chat) -> Result<Vec<TimelineEntry>, Error> {
        let limits = TranscriptLimits {
            max_entries: MAX_TRANSCRIPT_ENTRIES,
            max_bytes: webhook::MAX_TRANSCRIPT_BYTES,
            entry_bytes: webhook::transcript_bytes,
        };
        let mut entries = self.chats.last_entries(&chat.account_id, chat.chat_id, limits).await?;
        let now = clock::now();
        entries.retain(|entry| !entry.is_expired(now));
        Ok(entries)
    }

    /// Finds a webhook in the cached settings. If they do not contain the webhook, reads the settings again, because
    /// the webhook may be new.
    async fn webhook(&self, account_id: &str, webhook_id: &str) -> Result<Option<Webhook>, Error> {
        let find =
            |settings: &AccountSettings| settings.webhooks.iter().find(|it| it.webhook_id == webhook_id).cloned();
        match find(&*self.directory.cached_settings(account_id).await?) {
            Some(webhook) => Ok(Some(webhook)),
            None => Ok(find(&*self.directory.fresh_settings(account_id).await?)),
        }
    }

    /// Stores the data from a response and returns the outcome of the attempt. The data is stored before the result of
    /// the attempt, so that the attempt is repeated if the process dies in between. If the data cannot be stored now,
    /// the attempt counts as failed and is repeated. If the data can never be stored, the delivery fails permanently.
    async fn process_response(
        &self,
        event: WebhookEvent,
        chat: &Chat,
        result: PostResult,
    ) -> Result<(Outcome, Attempt), Error> {
        let (mut answer_data, mut answer) = (WebhookResponseData::default(), None);
        let (outcome, attempt) =
            result.into_outcome(|response| match webhook::interpret_response(event, response.status, &response.body) {
                WebhookResponse::Confirmed(data) => {
                    answer_data = *data;
                    Outcome::Delivered
                }
                WebhookResponse::Unconfirmed(excerpt) => {
                    answer = Some(excerpt);
                    Outcome::Delivered
                }
                WebhookResponse::Rejected(message) => Outcome::Rejected(Failure { code: None, message, hidden: false }),
                WebhookResponse::Retry(reason) => Outcome::Retry(reason),
            });
        if outcome != Outcome::Delivered {
            return Ok((outcome, attempt));
        }
        let stored = match event {
            WebhookEvent::ChatAssigned => self.record_assignment(chat, answer.as_deref()).await,
            WebhookEvent::CallEvent
            | WebhookEvent::ChatAccepted
            | WebhookEvent::ChatFinished
            | WebhookEvent::ChatUpdated
            | WebhookEvent::OfflineMessage => self.store_response_data(chat, answer_data).await,
        };
        let Err(error) = stored else { return Ok((outcome, Attempt { answer, ..attempt })) };
        let not_stored = || "the answer could not be stored".to_owned();
        let outcome = if matches!(error, Error::Unavailable(_)) {
            Outcome::Retry(not_stored())
        } else {
            Outcome::Rejected(Failure { code: None, message: not_stored(), hidden: false })
        };
        tracing::warn!(context = ?error.context(), chat.account_id, chat.chat_id, "answer of a webhook not stored: {error}");
        Ok((outcome, Attempt { error: Some(not_stored()), ..attempt }))
    }

    /// Records in the panel whether the webhook confirmed the assignment. `unconfirmed` is the webhook's response if
    /// its result was not OK; `None` means that the webhook confirmed.
    async fn record_assignment(&self, before: &Chat, unconfirmed: Option<&str>) -> Result<(), Error> {
        let assignment = match unconfirmed {
            None => CrmCardAssignment::Done,
            Some(answer) => CrmCardAssignment::Failed(format!("the webhook did not answer with result OK: {answer}")),
        };
        let Some(chat) = self.chats.chat(&before.account_id, before.chat_id).await? else { return Ok(()) };
        self.chats.record_assignment(&chat, &assignment, clock::now()).await
    }

    /// Stores the panel and the contact details from a response. The chat is read again, because it may have been
    /// closed or erased during the request, and nothing may be written to an erased chat.
    async fn store_response_data(&self, before: &Chat, answer_data: WebhookResponseData) -> Result<(), Error> {
        let WebhookResponseData { panel, contact_info } = answer_data;
        if panel.is_empty() && contact_info == VisitorProfile::default() {
            return Ok(());
        }
        let Some(chat) = self.chats.chat(&before.account_id, before.chat_id).await? else { return Ok(()) };
        if !panel.is_empty() {
            self.chats.update_panel(&chat, &panel, clock::now()).await?;
        }
        if contact_info != VisitorProfile::default() {
            self.save_contacts(&chat, &contact_info).await?;
        }
        Ok(())
    }

    /// Adds contact details to the visitor's profile. The visitor is read again, because the profile may have changed
    /// during the request. Nothing is written if the visitor has been erased.
    async fn save_contacts(&self, chat: &Chat, contact_info: &VisitorProfile) -> Result<(), Error> {
        let Some(mut visitor) = self.chats.visitor(&chat.channel_id, &chat.external_id).await? else { return Ok(()) };
        if !visitor.merge_profile(contact_info, ProfileSource::Crm) {
            return Ok(());
        }
        match self.chats.save_visitor(&visitor).await {
            Err(Error::NotFound) => Ok(()),
            saved => saved,
        }
    }
}
