//! Delivers events to the webhooks of an account (specification, part C) and stores the data from their responses: the
//! panel that is shown to the agent, contact details, and the state of a CRM assignment.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::chats::visitor::update_visitor::update_visitor;
use crate::delivery::engine::{OutagePolicy, Receiver, UpdateFuture};
use crate::delivery::outbound_client::{AttemptFuture, OutboundClient, PostResult, reject_unsent};
use crate::delivery::webhook_request::{self, WebhookRequests};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::CrmCardAssignment;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, DeliveryUpdate, Failure, Outcome, Target};
use crate::domain::deliveries::outage::OutageKey;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::visitors::visitor::{ProfileSource, VisitorProfile};
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::webhooks::webhook_response::{self, WebhookResponse, WebhookResponseData};

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
        webhook_request::receiver_id(entry)
    }

    fn outage_policy<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        _chat: &'a Chat,
    ) -> BoxFuture<'a, Result<Option<OutagePolicy>, Error>> {
        Box::pin(async move { self.requests().outage_policy(entry).await })
    }

    fn fetcher<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        _chat: &'a Chat,
    ) -> BoxFuture<'a, Result<Option<OutageKey>, Error>> {
        Box::pin(async move { self.requests().fetcher(entry).await })
    }

    fn send<'a>(&'a self, entry: &'a TimelineEntry, chat: &'a Chat, timeout: Duration) -> AttemptFuture<'a> {
        Box::pin(async move {
            match self.requests().to_send(entry, chat).await? {
                Ok((webhook, kind, event)) => {
                    let post = webhook_request::signed_post(&webhook, &event, clock::now())?;
                    if post.url.is_none() {
                        return Ok(reject_unsent("the webhook has no address: a program fetches its events"));
                    }
                    let result = self.outbound.post(&post, timeout).await?;
                    self.process_response(kind, chat, result).await
                }
                Err(nothing_sent) => Ok(nothing_sent),
            }
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
    ) -> UpdateFuture<'a> {
        Box::pin(async move {
            let is_assignment = entry
                .webhook_dispatch
                .as_ref()
                .is_some_and(|webhook_dispatch| webhook_dispatch.event == WebhookEvent::ChatAssigned);
            if let (DeliveryUpdate::Failed { failure, .. }, true) = (&update, is_assignment) {
                let failed = CrmCardAssignment::Failed(failure.message.clone());
                self.chats.record_assignment(chat, &failed).await?;
            }
            Ok(update)
        })
    }
}

impl WebhookReceiver<'_> {
    fn requests(&self) -> WebhookRequests<'_> {
        WebhookRequests { directory: self.directory, chats: self.chats }
    }

    /// Stores the data from a response and returns the outcome of the attempt. The data is stored before the result of
    /// the attempt, so that the attempt is repeated if the process dies in between. If a table is unavailable, the
    /// attempt counts as failed temporarily. If the data cannot be stored for another reason, the delivery fails
    /// permanently.
    async fn process_response(
        &self,
        event: WebhookEvent,
        chat: &Chat,
        result: PostResult,
    ) -> Result<(Outcome, Attempt), Error> {
        let (mut response_data, mut unconfirmed) = (WebhookResponseData::default(), None);
        let (outcome, attempt) = result.into_outcome(|response| {
            match webhook_response::interpret_response(event, response.status, &response.body) {
                WebhookResponse::Confirmed(data) => {
                    response_data = *data;
                    Outcome::Delivered
                }
                WebhookResponse::Unconfirmed(excerpt) => {
                    unconfirmed = Some(excerpt);
                    Outcome::Delivered
                }
                WebhookResponse::Rejected(message) => Outcome::Rejected(Failure { code: None, message, hidden: false }),
                WebhookResponse::Retry(reason) => Outcome::Retry(reason),
            }
        });
        if outcome != Outcome::Delivered {
            return Ok((outcome, attempt));
        }
        let stored = if event == WebhookEvent::ChatAssigned {
            self.record_assignment(chat, unconfirmed.as_deref()).await
        } else {
            self.store_response_data(chat, response_data).await
        };
        let Err(error) = stored else { return Ok((outcome, Attempt { answer: unconfirmed, ..attempt })) };
        let not_stored = || "the response could not be stored".to_owned();
        let outcome = if matches!(error, Error::Unavailable(_)) {
            Outcome::Retry(not_stored())
        } else {
            Outcome::Rejected(Failure { code: None, message: not_stored(), hidden: false })
        };
        tracing::warn!(
            context = error.context(),
            chat.account_id,
            chat.chat_id,
            "response of a webhook not stored: {error}"
        );
        Ok((outcome, Attempt { error: Some(not_stored()), ..attempt }))
    }

    /// Records in the panel whether the webhook confirmed the assignment. `unconfirmed` is the beginning of a response
    /// that does not confirm the assignment. `None` means that the webhook confirmed it.
    async fn record_assignment(&self, chat: &Chat, unconfirmed: Option<&str>) -> Result<(), Error> {
        let assignment = match unconfirmed {
            None => CrmCardAssignment::Done,
            Some(response) => {
                CrmCardAssignment::Failed(format!("the webhook did not respond with result OK: {response}"))
            }
        };
        self.chats.record_assignment(chat, &assignment).await
    }

    /// Stores the panel and the contact details from a response.
    async fn store_response_data(&self, chat: &Chat, response_data: WebhookResponseData) -> Result<(), Error> {
        let WebhookResponseData { panel, contact_info } = response_data;
        if !panel.is_empty() {
            self.chats.update_panel(chat, &panel).await?;
        }
        if contact_info != VisitorProfile::default() {
            self.save_contacts(chat, &contact_info).await?;
        }
        Ok(())
    }

    /// Adds contact details to the visitor's profile. The visitor is read again, because the profile may have changed
    /// during the request. Nothing is written if the visitor has been erased; a visitor who has returned since then has
    /// another number.
    async fn save_contacts(&self, chat: &Chat, contact_info: &VisitorProfile) -> Result<(), Error> {
        let visitor = self.chats.visitor(&chat.channel_id, &chat.external_id).await?;
        let Some(mut visitor) = visitor.filter(|visitor| visitor.number == chat.visitor_number) else { return Ok(()) };
        if !visitor.merge_profile(contact_info, ProfileSource::Crm) {
            return Ok(());
        }
        match update_visitor(self.chats, &visitor, clock::now()).await {
            Err(Error::NotFound) => Ok(()),
            saved => saved,
        }
    }
}
