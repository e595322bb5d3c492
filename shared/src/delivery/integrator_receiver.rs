//! Delivers the messages of agents and bots, and the typing notices of agents, to the integrator of a channel
//! (specification, A-3).

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;

use crate::delivery::engine::{OutagePolicy, Receiver};
use crate::delivery::outbound_client::{
    self, AttemptFuture, OutboundClient, SWITCHED_OFF, reject_unsent, retry_unsent,
};
use crate::delivery::rehearsal::Fault;
use crate::delivery::signed_post::{JSON_CONTENT_TYPE, SignedPost, Signing};
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::channels::channel::{ApiSettings, Channel};
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::message_content::TypingNotice;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, Outcome, Target};
use crate::domain::deliveries::outage::{OutageKey, OutageStatus};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::connections::circuit_breakers::CircuitBreakers;
use crate::store::directory::Directory;
use crate::wire::channels::integrator_request::IntegratorMessage;
use crate::wire::channels::integrator_response;
use crate::wire::queue_task::TypingTask;

/// The maximum age of a typing notice. An older notice is dropped.
const TYPING_NOTICE_MAX_AGE: Duration = Duration::from_secs(3);
/// The timeout is short, because the chat's next messages are not sent until the request has ended.
const TYPING_TIMEOUT: Duration = Duration::from_secs(1);
const OUTDATED_SECRET: &str = "the request was signed with a secret that has been replaced";

pub struct IntegratorReceiver<'a> {
    pub directory: &'a Directory,
    pub outbound: &'a OutboundClient,
}

impl Receiver for IntegratorReceiver<'_> {
    fn target(&self) -> Target {
        Target::Channel
    }

    fn receiver_id(&self, _entry: &TimelineEntry, chat: &Chat) -> Option<String> {
        Some(chat.channel_id.clone())
    }

    fn outage_policy<'a>(
        &'a self,
        _entry: &'a TimelineEntry,
        chat: &'a Chat,
    ) -> BoxFuture<'a, Result<Option<OutagePolicy>, Error>> {
        Box::pin(async move {
            let channel = self.directory.cached_channel(&chat.channel_id).await?;
            Ok(channel.as_ref().and_then(|channel| {
                let (key, options) = (outage_key(channel), channel.settings.api()?.delivery);
                Some(OutagePolicy { key, options, status: channel.outage_status })
            }))
        })
    }

    fn settings_for_events<'a>(
        &'a self,
        entry: &'a TimelineEntry,
    ) -> BoxFuture<'a, Result<Option<Arc<AccountSettings>>, Error>> {
        Box::pin(async move { self.directory.cached_settings(&entry.account_id).await.map(Some) })
    }

    fn fetcher<'a>(
        &'a self,
        _entry: &'a TimelineEntry,
        chat: &'a Chat,
    ) -> BoxFuture<'a, Result<Option<OutageKey>, Error>> {
        Box::pin(async move {
            let channel = self.directory.cached_channel(&chat.channel_id).await?;
            let is_fetched = |api: &ApiSettings| api.integrator_url.is_none();
            Ok(channel.filter(|channel| channel.settings.api().is_some_and(is_fetched)).map(|it| outage_key(&it)))
        })
    }

    fn send<'a>(&'a self, entry: &'a TimelineEntry, chat: &'a Chat, timeout: Duration) -> AttemptFuture<'a> {
        Box::pin(async move {
            let channel = channel_to_sign_with(self.directory, entry, chat).await?;
            if channel.as_ref().is_some_and(|channel| channel.outage_status == OutageStatus::SwitchedOff) {
                return Ok(retry_unsent(SWITCHED_OFF));
            }
            let (post, api) = match compose(channel.as_deref(), entry, chat)? {
                Ok(composed) => composed,
                Err(obstacle) => return Ok(reject_unsent(obstacle)),
            };
            if post.url.is_none() {
                return Ok(retry_unsent("the channel has no address: its integrator fetches the messages"));
            }
            if let Some(fault) = Fault::of_attempt(entry, api.rehearsal_percent) {
                return self.send_with_fault(fault, post, api, timeout).await;
            }
            let result = self.outbound.post(&post, timeout).await?;
            let (outcome, attempt) = result.into_outcome(|response| integrator_response::outcome(response, api));
            if matches!(outcome, Outcome::Rejected(_)) && self.used_outdated_secret(&post, chat, &attempt).await {
                return Ok((Outcome::Retry(OUTDATED_SECRET.to_owned()), attempt));
            }
            Ok((outcome, attempt))
        })
    }
}

pub(crate) fn outage_key(channel: &Channel) -> OutageKey {
    let (account_id, receiver_id) = (channel.account_id.clone(), channel.channel_id.clone());
    OutageKey { account_id, target: Target::Channel, receiver_id }
}

/// Returns the channel of an entry, from the cache unless the signing secret may have been replaced.
pub(crate) async fn channel_to_sign_with(
    directory: &Directory,
    entry: &TimelineEntry,
    chat: &Chat,
) -> Result<Option<Arc<Channel>>, Error> {
    if entry.may_have_outdated_secret() {
        directory.fresh_channel(&chat.channel_id).await
    } else {
        directory.cached_channel(&chat.channel_id).await
    }
}

impl IntegratorReceiver<'_> {
    /// Returns whether the integrator refused a request's credentials because the signing secret has been replaced
    /// since the channel was cached. A lenient channel treats such a response as a rejection, which would be final.
    async fn used_outdated_secret(&self, post: &SignedPost, chat: &Chat, attempt: &Attempt) -> bool {
        if !attempt.is_unauthorized() {
            return false;
        }
        match self.directory.fresh_channel(&chat.channel_id).await {
            Ok(channel) => channel.is_some_and(|channel| channel.signing_secrets.valid(clock::now()) != post.secrets),
            Err(error) => {
                tracing::warn!(context = error.context(), chat.account_id, chat.chat_id, "signing secret not read");
                false
            }
        }
    }

    async fn send_with_fault(
        &self,
        fault: Fault,
        post: SignedPost,
        api: &ApiSettings,
        timeout: Duration,
    ) -> Result<(Outcome, Attempt), Error> {
        let (outcome, attempt) = if fault == Fault::Lost {
            retry_unsent("not attempted")
        } else {
            let result = self.outbound.post(&fault.apply_to(post)?, timeout).await?;
            result.into_outcome(|response| integrator_response::outcome(response, api))
        };
        let outcome = fault.outcome(&outcome, attempt.status);
        let error = outcome.error().map(str::to_owned);
        Ok((outcome, Attempt { error, ..attempt }))
    }

    /// Sends a typing notice from the chat's agent or bot to the integrator, without retries. The notice is dropped if,
    /// for example, it is too old or the integrator is failing. An error is only logged, because a retry would delay
    /// the chat's next messages.
    pub async fn send_typing(&self, chats: &Chats, breakers: &CircuitBreakers, task: &TypingTask) {
        if let Err(error) = self.try_send_typing(chats, breakers, task).await {
            tracing::warn!(context = error.context(), task.account_id, task.chat_id, "typing notice dropped: {error}");
        }
    }

    async fn try_send_typing(&self, chats: &Chats, breakers: &CircuitBreakers, task: &TypingTask) -> Result<(), Error> {
        let is_fresh = clock::now().since(Timestamp(task.at)) < TYPING_NOTICE_MAX_AGE;
        let Some(typing) = TypingNotice::parse(&task.r#type).filter(|_| is_fresh) else {
            return Ok(());
        };
        let Some(chat) = chats.chat(&task.account_id, task.chat_id).await? else {
            return Ok(());
        };
        if chat.is_failing(Target::Channel, clock::now()) {
            return Ok(());
        }
        if breakers.is_open(&Target::Channel.breaker_key(&chat.channel_id), clock::now()).await? {
            return Ok(());
        }
        let Some(channel) = self.directory.cached_channel(&chat.channel_id).await? else {
            return Ok(());
        };
        let gets_requests =
            |api: &&ApiSettings| api.integrator_url.is_some() && channel.outage_status != OutageStatus::SwitchedOff;
        let Some(api) = channel.settings.api().filter(gets_requests) else { return Ok(()) };
        let Some(sender) = self.owner_of(&chat).await? else { return Ok(()) };
        let body = IntegratorMessage::typing_notice(&sender, &chat, typing);
        let message_id = crate::runtime::random_ids_and_secrets::new_webhook_request_id();
        let result = self.outbound.post(&signed_post(&channel, api, &body, &message_id)?, TYPING_TIMEOUT).await?;
        let Attempt { at: _, status, duration_ms, error: _, answer: _ } = result.attempt;
        tracing::info!(message_id, task.account_id, task.chat_id, status, duration_ms, "typing notice sent");
        Ok(())
    }

    /// Returns the agent or the bot that has a chat, or `None` if nobody has it.
    async fn owner_of(&self, chat: &Chat) -> Result<Option<Sender>, Error> {
        if let Some(owner) = chat.state.agent() {
            // The chat's header is not sufficient: it stores only the name that the agent had when accepting the chat,
            // and no photo.
            let agent = self.directory.agent(&chat.account_id, owner.agent_id).await?;
            return Ok(agent.map(|agent| Sender::Agent(agent.into())));
        }
        let Some(bot_id) = chat.bot_id.as_deref().filter(|_| chat.state == ChatState::Bot) else { return Ok(None) };
        Ok(self.directory.cached_bot(bot_id).await?.map(|bot| Sender::Bot(bot.name.clone())))
    }
}

/// Returns the request that delivers an entry, and the settings of the channel. The inner error is the reason why the
/// entry cannot be sent.
pub(crate) fn compose<'a>(
    channel: Option<&'a Channel>,
    entry: &TimelineEntry,
    chat: &Chat,
) -> Result<Result<(SignedPost, &'a ApiSettings), &'static str>, Error> {
    let Some(channel) = channel else { return Ok(Err("the channel was deleted")) };
    let Some(api) = channel.settings.api() else { return Ok(Err("the channel has no integrator")) };
    let Some(content) = entry.content.converted_for(api.rich_support) else {
        return Ok(Err("the channel cannot show this kind of message"));
    };
    let body = IntegratorMessage::new(&entry.from, chat, &entry.id, &content);
    Ok(Ok((signed_post(channel, api, &body, &entry.id)?, api)))
}

fn signed_post(channel: &Channel, api: &ApiSettings, body: &IntegratorMessage, id: &str) -> Result<SignedPost, Error> {
    Ok(SignedPost {
        url: outbound_client::integrator_endpoint(api, &channel.channel_id)?,
        shown_url: None,
        body: json!(body).to_string().into_bytes(),
        content_type: JSON_CONTENT_TYPE,
        id: id.to_owned(),
        secrets: channel.signing_secrets.valid(clock::now()),
        signing: Signing::Right,
        chunked: api.chunked,
        hidden: Vec::new(),
    })
}
