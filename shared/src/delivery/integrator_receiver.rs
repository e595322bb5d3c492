//! Delivery to the integrator of a channel (specification, A-3).

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::delivery::engine::Receiver;
use crate::delivery::outbound::{self, Exchange, Outbound, Post, refused};
use crate::domain::channel::Channel;
use crate::domain::chat::{Chat, Sender};
use crate::domain::content::Typing;
use crate::domain::delivery::{Attempt, Outcome, Target};
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::connections::breakers::Breakers;
use crate::store::directory::Directory;
use crate::wire::task::TypingTask;
use crate::wire::{agent_message, channel_response};

/// A typing notice that is older is of no use to anybody.
const TYPING_TTL: Duration = Duration::from_secs(3);
/// How long a notice may hold up the messages behind it.
const TYPING_TIMEOUT: Duration = Duration::from_secs(1);

/// Integrators' servers.
pub struct Integrators<'a> {
    /// Where their channels are.
    pub directory: &'a Directory,
    /// How they are called.
    pub outbound: &'a Outbound,
}

impl Receiver for Integrators<'_> {
    fn target(&self) -> Target {
        Target::Channel
    }

    fn receiver_id(&self, _entry: &Entry, chat: &Chat) -> Option<String> {
        Some(chat.channel_id.clone())
    }

    fn send<'a>(
        &'a self,
        entry: &'a Entry,
        chat: &'a Chat,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<(Outcome, Attempt), Error>> {
        Box::pin(async move {
            let Some(channel) = self.directory.cached_channel(&chat.channel_id).await? else {
                return Ok(refused("the channel was deleted"));
            };
            let Some(content) = entry.content.shown_on(channel.settings.shows) else {
                return Ok(refused("the channel cannot show this kind of message"));
            };
            let body = agent_message::body(&entry.from, chat, &entry.id, &content);
            let exchange = self.post(&channel, &body, &entry.id, timeout).await?;
            Ok(exchange.judge(|received| channel_response::classify(received, &channel.settings)))
        })
    }
}

impl Integrators<'_> {
    /// Passes on a typing notice of the agent who has the chat: once, and only while it is fresh. What goes wrong is
    /// logged and forgotten: a notice is not worth holding up the messages behind it.
    pub async fn send_typing(&self, chats: &Chats, breakers: &Breakers, task: &TypingTask) {
        if let Err(error) = self.pass_typing(chats, breakers, task).await {
            tracing::warn!(context = ?error.context(), task.account_id, task.chat_id, "typing notice dropped: {error}");
        }
    }

    async fn pass_typing(&self, chats: &Chats, breakers: &Breakers, task: &TypingTask) -> Result<(), Error> {
        let is_fresh = clock::now().since(Timestamp(task.at)) < TYPING_TTL;
        let Some(typing) = Typing::parse(&task.r#type).filter(|_| is_fresh) else {
            return Ok(());
        };
        let Some(chat) = chats.chat(&task.account_id, task.chat_id).await? else {
            return Ok(());
        };
        let Some(owner) = chat.state.agent().filter(|_| !chat.is_failing(Target::Channel, clock::now())) else {
            return Ok(());
        };
        if breakers.is_open(&Target::Channel.breaker(&chat.channel_id), clock::now()).await? {
            return Ok(());
        }
        let Some(channel) = self.directory.cached_channel(&chat.channel_id).await? else {
            return Ok(());
        };
        // The chat remembers the owner without the photo, and by the name at that time.
        let Some(agent) = self.directory.agent(&task.account_id, owner.agent_id).await? else {
            return Ok(());
        };
        let body = agent_message::typing(&Sender::Agent(agent.into()), &chat, typing);
        let message_id = crate::runtime::secret::notice_id();
        let exchange = self.post(&channel, &body, &message_id, TYPING_TIMEOUT).await?;
        let Attempt { at: _, status, ms: duration_ms, error: _, answer: _ } = exchange.attempt;
        tracing::info!(message_id, task.account_id, task.chat_id, status, duration_ms, "typing notice tried");
        Ok(())
    }

    async fn post(
        &self,
        channel: &Arc<Channel>,
        body: &serde_json::Value,
        id: &str,
        timeout: Duration,
    ) -> Result<Exchange, Error> {
        let url = outbound::integrator_endpoint(&channel.settings, &channel.channel_id)?;
        let body = body.to_string().into_bytes();
        let (secrets, chunked) = (&[channel.signing_secret.as_str()], channel.settings.chunked);
        self.outbound.post(Post { url, body, id, secrets, chunked, timeout }).await
    }
}
