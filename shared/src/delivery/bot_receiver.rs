//! Delivers events to the provider of a bot (specification, B-2).
//!
//! A bot accepts an event by responding with 200 and no error. It also accepts a CLIENT_MESSAGE, an AGENT_UNAVAILABLE
//! or a CHAT_RETURNED by sending BOT_MESSAGE or INVITE_AGENT for the chat after the first attempt has started. If it
//! does not accept one of these three in time, the chat is handed over to the agents.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::chats::bot::hand_over_chat::{HandoverResult, hand_over_chat, hand_over_on_request};
use crate::chats::bot::return_chat::return_unaccepted_chat;
use crate::chats::notifications::NotificationContext;
use crate::delivery::engine::{Receiver, UpdateFuture};
use crate::delivery::outbound_client::{self, AttemptFuture, OutboundClient, reject_unsent};
use crate::delivery::signed_post::{HIDDEN, JSON_CONTENT_TYPE, SignedPost, Signing};
use crate::domain::accounts::agent_presence::Presence;
use crate::domain::bots::bot::{Bot, BotNotification, Provider};
use crate::domain::bots::bot_reaction::{
    awaits_bot_reaction, bot_reaction_window_start, delivery_state_after_reaction, is_client_message,
};
use crate::domain::bots::bot_settings::BotSettings;
use crate::domain::bots::human_words::asks_for_person;
use crate::domain::bots::turn::{TurnStep, earlier_messages};
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Attempt, Delivery, DeliveryState, DeliveryUpdate, Outcome, Target};
use crate::domain::deliveries::retry_schedule::SLOT_TOLERANCE;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::wire::bots::bot_event::{BotEvent, BotNoticeName, ChannelNow};
use crate::wire::bots::client_message_sender::ClientMessageSender;
use crate::wire::queue_task::{AgentWaitTask, BotReactionCheckTask, StandbyCopyTask, Task};
use crate::wire::receiver_response::ReceiverResponse;

/// The delay before the check for a bot's answer is repeated if a table was unavailable.
const UNAVAILABLE_RETRY_DELAY: Duration = Duration::from_secs(5);

/// The time that a bot on standby has to respond to a copy.
const COPY_TIMEOUT: Duration = Duration::from_secs(3);

pub struct BotReceiver<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
    pub outbox: &'a Outbox,
    pub outbound: &'a OutboundClient,
}

impl Receiver for BotReceiver<'_> {
    fn target(&self) -> Target {
        Target::Bot
    }

    fn receiver_id(&self, entry: &TimelineEntry, chat: &Chat) -> Option<String> {
        chat.bot_of_entry(entry.seq).map(str::to_owned)
    }

    /// An entry that needs a reaction from the bot is superseded once the bot no longer has the chat. Any other entry
    /// is sent even then.
    fn is_superseded(&self, entry: &TimelineEntry, chat: &Chat) -> bool {
        let has_chat = chat.state == ChatState::Bot && chat.bot_of_entry(entry.seq) == chat.bot_id.as_deref();
        awaits_bot_reaction(entry) && !has_chat
    }

    /// A visitor who asks for a person gets one, if the bot's settings say so. Otherwise, a visitor's message waits
    /// until the visitor is quiet, if the bot gathers messages. Reads the chat's entries only if the visitor has gone
    /// on.
    fn turn_step<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        chat: &'a Chat,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<TurnStep, Error>> {
        Box::pin(async move {
            if !entry.is_visitor_message() {
                return Ok(TurnStep::Send);
            }
            let settings = settings_of(self.directory, entry, chat).await?.unwrap_or_default();
            if settings.human_words && self.hand_over_on_request(entry, chat).await? {
                return Ok(TurnStep::Skip);
            }
            let turns = settings.turns;
            if !turns.gathers() {
                return Ok(TurnStep::Send);
            }
            if let Some(wait) = turns.remaining_quiet(entry, SLOT_TOLERANCE, now) {
                return Ok(TurnStep::Wait(wait));
            }
            let has_gone_on = chat.visitor_seq > entry.seq || chat.is_visitor_typing(now);
            let entries = if has_gone_on { self.chats.entries_around(entry).await? } else { Vec::new() };
            Ok(turns.step(entry, chat, &entries, now))
        })
    }

    fn send<'a>(&'a self, entry: &'a TimelineEntry, chat: &'a Chat, timeout: Duration) -> AttemptFuture<'a> {
        Box::pin(async move {
            let BotReceiver { directory, chats, connections, .. } = *self;
            match (BotRequests { directory, chats, connections }).compose(entry, chat).await? {
                Ok(post) => Ok(self.outbound.post(&post, timeout).await?.into_outcome(interpret_response)),
                Err(obstacle) => Ok(reject_unsent(obstacle)),
            }
        })
    }

    /// Returns true if the entry needs a reaction from the bot and the bot has sent a message or an invitation after
    /// the start of the first attempt.
    fn has_accepted(&self, entry: &TimelineEntry, chat: &Chat) -> bool {
        let first_attempt_at =
            entry.delivery.as_ref().and_then(Delivery::first_attempt_at).filter(|_| awaits_bot_reaction(entry));
        first_attempt_at.is_some_and(|first_attempt_at| chat.has_bot_event_after(first_attempt_at))
    }

    /// If the delivery of an entry that needs a reaction has failed, hands the chat over to the agents. If the bot has
    /// reacted in the meantime, the entry counts as delivered instead. After the delivery of a visitor's message,
    /// queues the check that runs at the end of the bot's time limit for an answer, if the bot has such a limit.
    fn update_to_record<'a>(
        &'a self,
        entry: &'a TimelineEntry,
        chat: &'a Chat,
        attempt: &'a Attempt,
        update: DeliveryUpdate,
    ) -> UpdateFuture<'a> {
        Box::pin(async move {
            let asked_at = entry.delivery.as_ref().and_then(Delivery::first_attempt_at).unwrap_or(attempt.at);
            match update {
                DeliveryUpdate::Failed { .. } if awaits_bot_reaction(entry) => {
                    Ok(match self.hand_over_unconfirmed(entry, asked_at).await? {
                        HandoverResult::BotResponded => DeliveryUpdate::Delivered,
                        HandoverResult::HandedOver(_) | HandoverResult::NotWithBot => update,
                    })
                }
                DeliveryUpdate::Delivered if must_be_answered(entry, chat) => {
                    self.queue_bot_reaction_check(entry, chat, asked_at).await?;
                    Ok(update)
                }
                DeliveryUpdate::RetryAfter(_)
                | DeliveryUpdate::StillFailed
                | DeliveryUpdate::Failed { .. }
                | DeliveryUpdate::Delivered => Ok(update),
            }
        })
    }

    fn expire<'a>(&'a self, entry: &'a TimelineEntry, _chat: &'a Chat) -> BoxFuture<'a, Result<DeliveryState, Error>> {
        Box::pin(async move {
            Ok(match self.hand_over_unconfirmed(entry, bot_reaction_window_start(entry)).await? {
                HandoverResult::HandedOver(_) => DeliveryState::Failed,
                HandoverResult::BotResponded => delivery_state_after_reaction(entry),
                HandoverResult::NotWithBot => DeliveryState::Superseded,
            })
        })
    }
}

pub(crate) struct BotRequests<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
}

impl BotRequests<'_> {
    /// Returns the request that delivers an entry. The inner error is the reason why the entry cannot be sent.
    pub(crate) async fn compose(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
    ) -> Result<Result<SignedPost, &'static str>, Error> {
        let Some(bot) = bot_to_sign_with(self.directory, entry, chat).await? else {
            return Ok(Err("the bot was disconnected"));
        };
        let Some(provider) = self.directory.cached_provider(&bot.provider_id).await? else {
            return Ok(Err("the provider is no longer registered"));
        };
        let Some(body) = self.body(entry, chat).await? else { return Ok(Err("the visitor was erased")) };
        signed_post(&bot, &provider, &body, &entry.id).map(Ok)
    }

    async fn body(&self, entry: &TimelineEntry, chat: &Chat) -> Result<Option<Value>, Error> {
        if let Content::BotNotification { notification, .. } = &entry.content {
            if let Some(notice) = BotNoticeName::of(*notification) {
                return Ok(Some(json!(BotEvent::notice(notice, entry, chat))));
            }
            if *notification == BotNotification::ChatReturned {
                let missed = self.chats.messages_without_bot(chat, entry.seq).await?;
                return Ok(Some(json!(BotEvent::chat_returned(entry, chat, &missed))));
            }
        }
        let Some(visitor) = self.chats.visitor(&chat.channel_id, &chat.external_id).await? else { return Ok(None) };
        let settings = settings_of(self.directory, entry, chat).await?.unwrap_or_default();
        let gathers = entry.is_visitor_message() && settings.turns.gathers();
        let entries = if gathers { self.chats.entries_around(entry).await? } else { Vec::new() };
        let earlier = earlier_messages(entry, &entries);
        let sender = ClientMessageSender::new(&visitor, &settings.visitor_data);
        let channel = self.channel_now(chat).await?;
        Ok(Some(json!(BotEvent::client_message(entry, &earlier, chat, sender, channel))))
    }

    async fn channel_now(&self, chat: &Chat) -> Result<ChannelNow, Error> {
        let channel = self.directory.cached_channel(&chat.channel_id).await?;
        Ok(ChannelNow {
            agents_online: self.expects_online_agent(chat).await?,
            shows: channel.map(|channel| channel.settings.rich_support()).unwrap_or_default(),
        })
    }

    /// Like [`has_online_agent`], but an agent who has just gone may still count for ten seconds. The bot only learns
    /// whether an invitation makes sense; the invitation itself reads the presences again.
    async fn expects_online_agent(&self, chat: &Chat) -> Result<bool, Error> {
        let Some(channel) = self.directory.cached_channel(&chat.channel_id).await? else { return Ok(false) };
        let (audience, now) = (self.directory.audience(&channel).await?, clock::now());
        let is_online = |presences: &[Presence]| audience.has_online_agent(presences, now);
        Ok(self.connections.presences_recently_met(&chat.account_id, is_online).await?
            && self.directory.is_open(&channel, department_id(chat), now).await?)
    }
}

/// Returns the settings of the entry's bot, unless the bot was disconnected.
async fn settings_of(directory: &Directory, entry: &TimelineEntry, chat: &Chat) -> Result<Option<BotSettings>, Error> {
    let Some(bot_id) = chat.bot_of_entry(entry.seq) else { return Ok(None) };
    Ok(directory.cached_bot(bot_id).await?.map(|bot| bot.settings.clone()))
}

/// Returns a request to the provider of a bot. The URL that admins see shows neither the bot's token nor the query of
/// the provider's endpoint, because the token is a secret and the query can contain one.
pub(crate) fn signed_post(bot: &Bot, provider: &Provider, body: &Value, id: &str) -> Result<SignedPost, Error> {
    let url = outbound_client::provider_endpoint(provider, &bot.token)?;
    let mut shown_url = outbound_client::provider_endpoint(provider, HIDDEN)?;
    if shown_url.query().is_some() {
        shown_url.set_query(Some(HIDDEN));
    }
    Ok(SignedPost {
        url: Some(url),
        shown_url: Some(shown_url.into()),
        body: body.to_string().into_bytes(),
        content_type: JSON_CONTENT_TYPE,
        id: id.to_owned(),
        secrets: bot.signing_secrets.valid(clock::now()),
        signing: Signing::Right,
        chunked: false,
        hidden: vec![bot.token.clone()],
    })
}

/// Returns the bot of a chat, from the cache unless its signing secret may have been replaced.
async fn bot_to_sign_with(
    directory: &Directory,
    entry: &TimelineEntry,
    chat: &Chat,
) -> Result<Option<Arc<Bot>>, Error> {
    match chat.bot_of_entry(entry.seq) {
        Some(bot_id) if entry.may_have_outdated_secret() => directory.fresh_bot(bot_id).await,
        Some(bot_id) => directory.cached_bot(bot_id).await,
        None => Ok(None),
    }
}

/// Returns whether the bot must answer an entry within its time limit. After a CHAT_RETURNED, it must if the visitor
/// has written last.
fn must_be_answered(entry: &TimelineEntry, chat: &Chat) -> bool {
    let is_visitor_last = || chat.last_message.as_ref().is_some_and(|last| last.from == Sender::Visitor.name());
    is_client_message(entry) || (entry.content.is_chat_returned() && is_visitor_last())
}

impl BotReceiver<'_> {
    async fn queue_bot_reaction_check(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        asked_at: Timestamp,
    ) -> Result<(), Error> {
        match bot_to_sign_with(self.directory, entry, chat).await?.and_then(|bot| bot.settings.answer_within) {
            Some(limit) => self.outbox.send_delayed(Target::Bot, &Task::answer_due(entry, asked_at), limit).await,
            None => Ok(()),
        }
    }

    /// Runs when the bot's time limit for an answer has expired. Hands the chat over to the agents if the bot has sent
    /// no event since `asked_at`, the time of the first attempt. If a table is unavailable, the check is postponed,
    /// because otherwise the chat could stay with a silent bot.
    ///
    /// # Errors
    /// The task can be repeated after any error.
    pub async fn hand_over_if_unanswered(&self, task: &BotReactionCheckTask) -> Result<(), Error> {
        let BotReactionCheckTask { v: _, account_id, chat_id, seq, asked_at } = task;
        match self.hand_over_chat(account_id, *chat_id, *seq, Timestamp(*asked_at)).await {
            Err(Error::Unavailable(context)) => {
                tracing::warn!(?context, account_id, chat_id, seq, "check of a bot's answer postponed");
                self.outbox.send_delayed(Target::Bot, &Task::AnswerDue(task.clone()), UNAVAILABLE_RETRY_DELAY).await
            }
            result => result.map(drop),
        }
    }

    /// Runs when the time limit for accepting a chat that a bot has handed over has expired. Returns the chat to the
    /// bot if no agent has accepted it. If the task is lost, the idle check of the chat does the same.
    ///
    /// # Errors
    /// The task can be repeated after any error.
    pub async fn return_if_unaccepted(&self, task: &AgentWaitTask) -> Result<(), Error> {
        let AgentWaitTask { v: _, account_id, chat_id } = task;
        let settings = self.directory.cached_settings(account_id).await?;
        let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now: clock::now() };
        if let Some(returned) = return_unaccepted_chat(self.chats, account_id, *chat_id, context).await? {
            tracing::info!(account_id, chat_id, "chat returned to the bot: no agent has accepted it");
            self.outbox.enqueue(&returned.notifications).await;
        }
        Ok(())
    }

    /// Sends a message once to the chat's bot, which is on standby. Does nothing if the agent no longer has the chat.
    ///
    /// # Errors
    /// Fails only before the request, so the task can be repeated.
    pub async fn send_copy(&self, task: &StandbyCopyTask) -> Result<(), Error> {
        let StandbyCopyTask { v: _, account_id, chat_id, seq } = task;
        let Some((entry, chat)) = self.chats.entry_and_chat(account_id, *chat_id, *seq).await? else { return Ok(()) };
        let Some(bot_id) = chat.bot_id.as_deref().filter(|_| chat.state.agent().is_some()) else { return Ok(()) };
        let bot = self.directory.cached_bot(bot_id).await?.filter(|bot| bot.settings.standby);
        let Some(bot) = bot else { return Ok(()) };
        let Some(provider) = self.directory.cached_provider(&bot.provider_id).await? else { return Ok(()) };
        let Some(event) = BotEvent::standby(&entry, &chat) else { return Ok(()) };
        let post = signed_post(&bot, &provider, &json!(event), &entry.id)?;
        let Attempt { status, duration_ms, .. } = self.outbound.post(&post, COPY_TIMEOUT).await?.attempt;
        tracing::info!(account_id, chat_id, seq, status, duration_ms, "copy sent to a bot on standby");
        Ok(())
    }

    async fn hand_over_unconfirmed(
        &self,
        unconfirmed: &TimelineEntry,
        asked_at: Timestamp,
    ) -> Result<HandoverResult, Error> {
        let TimelineEntry { account_id, chat_id, seq, .. } = unconfirmed;
        self.hand_over_chat(account_id, *chat_id, *seq, asked_at).await
    }

    /// Hands the chat over if the visitor asks for a person and an agent is online. If none is, the bot gets the
    /// message.
    async fn hand_over_on_request(&self, entry: &TimelineEntry, chat: &Chat) -> Result<bool, Error> {
        let is_request = entry.content.own_text().is_some_and(asks_for_person);
        if !is_request || !has_online_agent(self.directory, self.connections, chat).await? {
            return Ok(false);
        }
        let TimelineEntry { account_id, chat_id, .. } = entry;
        let settings = self.directory.cached_settings(account_id).await?;
        let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now: clock::now() };
        let HandoverResult::HandedOver(notifications) =
            hand_over_on_request(self.chats, account_id, *chat_id, context).await?
        else {
            return Ok(false);
        };
        self.outbox.enqueue(&notifications).await;
        Ok(true)
    }

    /// Hands the chat over to the agents, unless the bot no longer has the chat or has sent an event after `asked_at`.
    async fn hand_over_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        seq: u64,
        asked_at: Timestamp,
    ) -> Result<HandoverResult, Error> {
        let settings = self.directory.cached_settings(account_id).await?;
        let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now: clock::now() };
        let result = hand_over_chat(self.chats, account_id, chat_id, asked_at, context).await?;
        if let HandoverResult::HandedOver(notifications) = &result {
            self.outbox.enqueue(notifications).await;
            tracing::warn!(account_id, chat_id, seq, "chat handed over to the agents: the bot did not respond");
            metrics::count_bot_fallback();
        }
        Ok(result)
    }
}

/// Returns whether an agent in the audience of the chat's channel is online within the business hours.
pub(crate) async fn has_online_agent(
    directory: &Directory,
    connections: &Connections,
    chat: &Chat,
) -> Result<bool, Error> {
    let Some(channel) = directory.cached_channel(&chat.channel_id).await? else { return Ok(false) };
    let audience = directory.audience(&channel).await?;
    let presences = connections.presences(&chat.account_id).await?;
    let now = clock::now();
    Ok(audience.has_online_agent(&presences, now) && directory.is_open(&channel, department_id(chat), now).await?)
}

fn department_id(chat: &Chat) -> Option<u64> {
    chat.department.as_ref().map(|department| department.department_id)
}

/// The error codes that the specification defines (section Authentication). A provider's other codes and its error
/// messages are not shown.
const ERROR_CODES: [&str; 3] = ["invalid_client", "unauthorized_client", "invalid_request"];

/// Returns the outcome of a request. The bot accepts the event with status 200 and a body without an `error` object
/// (docs/decisions.md, Bot API). Any other response counts as a temporary failure.
pub(crate) fn interpret_response(response: &ReceiverResponse) -> Outcome {
    let body: Option<Value> = serde_json::from_slice(&response.body).ok();
    let error = body.as_ref().and_then(|body| body.get("error")).filter(|error| error.is_object());
    let code = error.and_then(|error| error.get("code")?.as_str()).filter(|code| ERROR_CODES.contains(code));
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    match response.status {
        200 if error.is_none() => Outcome::Delivered,
        200 => Outcome::Retry(format!("the provider returned an error{code}")),
        status => Outcome::Retry(format!("HTTP {status}{code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_200_without_an_error_is_delivered() {
        let table = [
            (200, "", None),
            (200, "<html>", None),
            (200, r#"{"error":null}"#, None),
            (201, "", Some("HTTP 201")),
            (500, "", Some("HTTP 500")),
            (302, "", Some("HTTP 302")),
            (401, r#"{"error":{"code":"invalid_client"}}"#, Some("HTTP 401 (invalid_client)")),
            (200, r#"{"error":{"code":"invalid_request"}}"#, Some("the provider returned an error (invalid_request)")),
            (200, r#"{"error":{"code":"another text"}}"#, Some("the provider returned an error")),
            (200, r#"{"error":{"code":7}}"#, Some("the provider returned an error")),
            // A response that was cut off at 64 KB, so its error object cannot be parsed.
            (200, r#"{"error":{"code":"invalid_req"#, None),
        ];
        for (status, body, error) in table {
            let expected = error.map_or(Outcome::Delivered, |error| Outcome::Retry(error.into()));
            assert_eq!(
                interpret_response(&ReceiverResponse { status, body: body.into() }),
                expected,
                "{status} {body}"
            );
        }
    }
}
