//! What a bot may do: the events of B-1, for the chats of this bot alone.

use crate::delivery::bot::agent_online;
use crate::domain::bot::Bot;
use crate::domain::chat::Chat;
use crate::domain::content::Content;
use crate::domain::entry::Entry;
use crate::domain::message_id;
use crate::domain::visitor::{Profile, Source, Visitor};
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::chats::idempotency::{Answered, IdempotencyKey};
use crate::store::chats::transitions::Transition;
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::wire::bot::Route;

/// A bot at work.
pub struct Desk<'a> {
    /// Which.
    pub bot: &'a Bot,
    /// Where its channels are.
    pub directory: &'a Directory,
    /// Where its chats are.
    pub chats: &'a Chats,
    /// Which agents are online.
    pub connections: &'a Connections,
}

impl Desk<'_> {
    /// BOT_MESSAGE, once for each idempotency key. Two writes when the event names its chat, and reads to find it when
    /// it does not.
    pub async fn message(
        &self,
        route: &Route,
        content: Content,
        key: Option<&IdempotencyKey>,
    ) -> Result<Answered, Error> {
        if let Some(answered) = self.chats.answered(key).await? {
            return Ok(answered);
        }
        let now = clock::now();
        let chat_id = self.chat_id(route).await?;
        let advanced = self.chats.bot_advance(self.bot, chat_id, &content, now).await;
        let chat = advanced.map_err(|error| named_by(route, error))?;
        let channel = self.directory.cached_channel(&chat.channel_id).await?;
        let shows = channel.map(|channel| channel.settings.shows).unwrap_or_default();
        self.chats.bot_message(self.bot, &chat, content, shows, key, now).await
    }

    /// INVITE_AGENT.
    pub async fn invite_agent(&self, route: &Route) -> Result<Transition, Error> {
        let chat_id = self.chat_id(route).await?;
        let chat = self.own_chat(chat_id).await.map_err(|error| named_by(route, error))?;
        let online = agent_online(self.directory, self.connections, &chat).await?;
        self.chats.invite_agent(&self.bot.account_id, chat_id, online, clock::now()).await
    }

    /// CLIENT_INFO. What the webhooks are to be told of it, to be queued.
    pub async fn client_info(&self, route: &Route, learned: &Profile) -> Result<Vec<Entry>, Error> {
        let visitor = match route.client_id {
            Some(number) if route.chat_id.is_none() => self.client(number).await?,
            _ => {
                let chat = self.own_chat(self.chat_id(route).await?).await.map_err(|error| named_by(route, error))?;
                let visitor = self.chats.visitor(&chat.channel_id, &chat.external_id).await?;
                visitor.ok_or_else(|| unknown("chat_id"))?
            }
        };
        let mut visitor = visitor;
        visitor.learn(learned, Source::Bot);
        let settings = self.directory.cached_settings(&self.bot.account_id).await?;
        self.chats.save_and_tell(&visitor, &settings.webhooks, clock::now()).await
    }

    /// The chat of an event: by `chat_id`, by `client_id`, or by the `id` of a CLIENT_MESSAGE (docs/decisions.md, Bot API).
    async fn chat_id(&self, route: &Route) -> Result<u64, Error> {
        match (route.chat_id, route.client_id) {
            (Some(chat_id), None) => Ok(chat_id),
            (Some(chat_id), Some(number)) => {
                let chat = self.own_chat(chat_id).await.map_err(|error| named_by(route, error))?;
                let agrees = chat.visitor_number == number;
                if agrees { Ok(chat_id) } else { Err(Error::field("client_id", "is not the client of chat_id")) }
            }
            (None, Some(number)) => {
                let visitor = self.client(number).await?;
                visitor.open_chat.ok_or_else(|| Error::field("client_id", "has no open chat"))
            }
            (None, None) => self.chat_of_message(route.id.as_deref()).await,
        }
    }

    async fn chat_of_message(&self, id: Option<&str>) -> Result<u64, Error> {
        let missing = || Error::field("chat_id", "or client_id is required, or the id of a CLIENT_MESSAGE");
        let id = id.ok_or_else(missing)?;
        let (chat_id, seq) = message_id::place(id).ok_or_else(missing)?;
        let entry = self.chats.entry(&self.bot.account_id, chat_id, seq).await?;
        if entry.is_some_and(|entry| entry.id == id) { Ok(chat_id) } else { Err(missing()) }
    }

    /// A chat that this bot stands or stood in front of; others do not exist for it.
    async fn own_chat(&self, chat_id: u64) -> Result<Chat, Error> {
        let chat = self.chats.chat(&self.bot.account_id, chat_id).await?;
        chat.filter(|chat| chat.bot_id.as_ref() == Some(&self.bot.bot_id)).ok_or(Error::NotFound)
    }

    /// A visitor of one of this bot's channels.
    async fn client(&self, number: u64) -> Result<Visitor, Error> {
        let visitor = self.chats.visitor_by_number(&self.bot.account_id, number, clock::now()).await?;
        let visitor = visitor.filter(|visitor| self.bot.channel_ids.contains(&visitor.channel_id));
        visitor.ok_or_else(|| unknown("client_id"))
    }
}

fn unknown(field: &'static str) -> Error {
    Error::field(field, "is not known to this bot")
}

/// A chat that is not there is a wrong field of the event, not a wrong address.
fn named_by(route: &Route, error: Error) -> Error {
    match (&error, route.chat_id, route.client_id) {
        (Error::NotFound, None, Some(_)) => unknown("client_id"),
        (Error::NotFound, _, _) => unknown("chat_id"),
        _ => error,
    }
}
