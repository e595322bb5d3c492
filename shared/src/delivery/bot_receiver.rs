//! Delivery to the provider of a bot (specification, B-2). A bot that does not take a visitor's message, or does
//! not hear that no agent is there, loses the chat to the agents. It takes one by a regular answer, or by an event of its
//! own that arrives after the first attempt began.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::delivery::engine::Receiver;
use crate::delivery::outbound::{self, Outbound, Post, refused};
use crate::domain::bot::Bot;
use crate::domain::chat::{Chat, Sender};
use crate::domain::chat_state::State;
use crate::domain::content::Kind;
use crate::domain::delivery::{Attempt, Delivery, DeliveryState, DeliveryUpdate, Outcome, Target};
use crate::domain::delivery_log::{after_bot_event, unanswered_since, waits_for_bot};
use crate::domain::entry::Entry;
use crate::domain::presence;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::queue::DelayedQueue;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::store::chats::transitions::HandOver;
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::wire;
use crate::wire::receiver_answer::Answer;
use crate::wire::task::{AnswerTask, Task};

/// Bot providers' servers.
pub struct Providers<'a> {
    /// Where bots and providers are.
    pub directory: &'a Directory,
    /// Where their chats are.
    pub chats: &'a Chats,
    /// Which agents are online.
    pub connections: &'a Connections,
    /// Where a bot's time-out waits.
    pub retries: &'a DelayedQueue,
    /// How they are called.
    pub outbound: &'a Outbound,
}

impl Receiver for Providers<'_> {
    fn target(&self) -> Target {
        Target::Bot
    }

    fn receiver_id(&self, _entry: &Entry, chat: &Chat) -> Option<String> {
        chat.bot_id.clone()
    }

    /// What the bot is to react to is for it as long as it has the chat; what it is only told, always.
    fn is_superseded(&self, entry: &Entry, chat: &Chat) -> bool {
        waits_for_bot(entry) && chat.state != State::Bot
    }

    fn send<'a>(
        &'a self,
        entry: &'a Entry,
        chat: &'a Chat,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<(Outcome, Attempt), Error>> {
        Box::pin(async move {
            let Some(bot) = self.bot(chat).await? else { return Ok(refused("the bot was disconnected")) };
            let Some(provider) = self.directory.cached_provider(&bot.provider_id).await? else {
                return Ok(refused("the provider is not registered any more"));
            };
            let Some(body) = self.body(entry, chat).await? else { return Ok(refused("the visitor was erased")) };
            let url = outbound::endpoint(&provider.endpoint, &bot.token)?;
            let body = body.to_string().into_bytes();
            let (id, secrets) = (&entry.id, &[bot.signing_secret.as_str()]);
            let exchange = self.outbound.post(Post { url, body, id, secrets, chunked: false, timeout }).await?;
            Ok(exchange.judge(read))
        })
    }

    /// Also where the bot's event gave the chat to the agents.
    fn has_accepted(&self, entry: &Entry, chat: &Chat) -> bool {
        let began_at = entry.delivery.as_ref().and_then(Delivery::began_at).filter(|_| waits_for_bot(entry));
        began_at.is_some_and(|began_at| chat.has_bot_event_after(began_at))
    }

    /// The hand-over comes before the failure is written down, and the bot's own time-out before the success:
    /// after a death in between the try is simply made again.
    fn before_record<'a>(
        &'a self,
        entry: &'a Entry,
        chat: &'a Chat,
        attempt: &'a Attempt,
        change: DeliveryUpdate,
    ) -> BoxFuture<'a, Result<DeliveryUpdate, Error>> {
        Box::pin(async move {
            let asked_at = entry.delivery.as_ref().and_then(Delivery::began_at).unwrap_or(attempt.at);
            match change {
                DeliveryUpdate::Failed(..) if waits_for_bot(entry) => {
                    Ok(match self.hand_over(entry, asked_at).await? {
                        HandOver::Answered => DeliveryUpdate::Delivered,
                        HandOver::Done | HandOver::NotWithBot => change,
                    })
                }
                DeliveryUpdate::Delivered if entry.from == Sender::Visitor => {
                    self.await_answer(entry, chat, asked_at).await?;
                    Ok(change)
                }
                DeliveryUpdate::Again(_) | DeliveryUpdate::Failed(..) | DeliveryUpdate::Delivered => Ok(change),
            }
        })
    }

    fn expire<'a>(&'a self, entry: &'a Entry, _chat: &'a Chat) -> BoxFuture<'a, Result<DeliveryState, Error>> {
        Box::pin(async move {
            Ok(match self.hand_over(entry, unanswered_since(entry)).await? {
                HandOver::Done => DeliveryState::Failed,
                HandOver::Answered => after_bot_event(entry),
                HandOver::NotWithBot => DeliveryState::Superseded,
            })
        })
    }
}

impl Providers<'_> {
    async fn bot(&self, chat: &Chat) -> Result<Option<std::sync::Arc<Bot>>, Error> {
        match &chat.bot_id {
            Some(bot_id) => self.directory.cached_bot(bot_id).await,
            None => Ok(None),
        }
    }

    async fn body(&self, entry: &Entry, chat: &Chat) -> Result<Option<Value>, Error> {
        if let Kind::BotNotice(notice) = entry.content.kind {
            return Ok(Some(wire::bot::notice(notice, entry, chat)));
        }
        let Some(visitor) = self.chats.visitor(&chat.channel_id, &chat.external_id).await? else { return Ok(None) };
        let agents_online = agent_online(self.directory, self.connections, chat).await?;
        Ok(Some(wire::bot::client_message(entry, chat, &visitor, agents_online)))
    }

    async fn await_answer(&self, entry: &Entry, chat: &Chat, asked_at: Timestamp) -> Result<(), Error> {
        match self.bot(chat).await?.and_then(|bot| bot.answer_within) {
            Some(limit) => self.retries.send(&Task::answer_due(entry, asked_at), limit).await,
            None => Ok(()),
        }
    }

    /// The end of a bot's own time: without a reaction to the message the chat goes to the agents.
    pub async fn answer_due(&self, task: &AnswerTask) -> Result<(), Error> {
        let AnswerTask { v: _, account_id, chat_id, seq, asked_at } = task;
        self.hand_over_chat(account_id, *chat_id, *seq, Timestamp(*asked_at)).await.map(|_| ())
    }

    async fn hand_over(&self, missed: &Entry, asked_at: Timestamp) -> Result<HandOver, Error> {
        let Entry { account_id, chat_id, seq, .. } = missed;
        self.hand_over_chat(account_id, *chat_id, *seq, asked_at).await
    }

    /// Gives the chat to the agents, unless the bot has sent an event since it was asked.
    async fn hand_over_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        seq: u64,
        asked_at: Timestamp,
    ) -> Result<HandOver, Error> {
        let result = self.chats.bot_failed(account_id, chat_id, asked_at, clock::now()).await?;
        if result == HandOver::Done {
            tracing::warn!(account_id, chat_id, seq, "bot fell back to the agents");
            metrics::bot_fallback();
        }
        Ok(result)
    }
}

/// Whether an agent who receives the chat's channel is online. A query, and a read when the channel is not cached.
pub async fn agent_online(directory: &Directory, connections: &Connections, chat: &Chat) -> Result<bool, Error> {
    let Some(channel) = directory.cached_channel(&chat.channel_id).await? else { return Ok(false) };
    let audience = directory.audience(&channel).await?;
    let presences = connections.presences(&chat.account_id).await?;
    Ok(presence::any_online(&presences, |agent_id| audience.includes(agent_id), clock::now()))
}

/// The codes of an error (specification, Authentication); other words of a provider are not shown.
const ERROR_CODES: [&str; 3] = ["invalid_client", "unauthorized_client", "invalid_request"];

/// A regular answer is 200 without an `error` (docs/decisions.md, Bot API); everything else counts as a failed try.
fn read(answer: &Answer) -> Outcome {
    let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let error = body.as_ref().and_then(|body| body.get("error")).filter(|error| error.is_object());
    let code = error.and_then(|error| error.get("code")?.as_str()).filter(|code| ERROR_CODES.contains(code));
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    match answer.status {
        200 if error.is_none() => Outcome::Delivered,
        200 => Outcome::TryAgain(format!("the provider answered with an error{code}")),
        status => Outcome::TryAgain(format!("HTTP {status}{code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_200_without_an_error_is_regular() {
        let table = [
            (200, "", None),
            (200, "<html>", None),
            (200, r#"{"error":null}"#, None),
            (201, "", Some("HTTP 201")),
            (500, "", Some("HTTP 500")),
            (302, "", Some("HTTP 302")),
            (401, r#"{"error":{"code":"invalid_client"}}"#, Some("HTTP 401 (invalid_client)")),
            (
                200,
                r#"{"error":{"code":"invalid_request"}}"#,
                Some("the provider answered with an error (invalid_request)"),
            ),
            (200, r#"{"error":{"code":"words of the client"}}"#, Some("the provider answered with an error")),
            (200, r#"{"error":{"code":7}}"#, Some("the provider answered with an error")),
            // The beginning of an answer over 64 KB.
            (200, r#"{"error":{"code":"invalid_req"#, None),
        ];
        for (status, body, error) in table {
            let expected = error.map_or(Outcome::Delivered, |error| Outcome::TryAgain(error.into()));
            assert_eq!(read(&Answer { status, body: body.into() }), expected, "{status} {body}");
        }
    }
}
