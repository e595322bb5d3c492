//! Which chats and visitors a signed-in agent reaches. Every endpoint of agents finds its chat here, so that one rule,
//! [`Viewer::sees`], holds for lists, reads and writes.

use std::collections::BTreeSet;

use futures_util::future::try_join;

use crate::domain::channel::ChannelSettings;
use crate::domain::chat::Chat;
use crate::domain::department::{Audience, Roster};
use crate::domain::timestamp::Timestamp;
use crate::domain::visibility::Viewer;
use crate::domain::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::listing::{Listed, MAX_HEADERS_PER_READ};
use crate::store::connections::Session;
use crate::store::directory::Directory;

/// Headers that one list may look through for those that the agent sees.
const MAX_HEADERS_PER_LIST: usize = 1_000;

/// What an agent reaches.
pub struct ChatAccess<'a> {
    /// Who receives the chats of a channel.
    pub directory: &'a Directory,
    /// The chats of all accounts.
    pub chats: &'a Chats,
    /// The agent.
    pub session: &'a Session,
    /// Now.
    pub now: Timestamp,
}

impl ChatAccess<'_> {
    /// A chat that the agent sees. Not found when there is none or its retention is over; forbidden when it is offered to
    /// others. One read. Where the agent neither has the chat nor is an admin, also its channel and the roster, which are
    /// cached.
    pub async fn chat(&self, chat_id: u64) -> Result<Chat, Error> {
        self.seen(self.chats.chat(&self.session.account_id, chat_id).await?).await
    }

    /// The same for a header that was read along with something else.
    pub async fn seen(&self, chat: Option<Chat>) -> Result<Chat, Error> {
        let chat = chat.filter(|chat| !chat.is_expired(self.now)).ok_or(Error::NotFound)?;
        let seen = self.seen_of(vec![chat]).await?.pop();
        seen.ok_or(Error::Forbidden("the chat is offered to other agents"))
    }

    /// A visitor whose open chat, or else whose last one, the agent sees. Two reads; for an agent who is no admin also
    /// what [`chat`](Self::chat) reads.
    pub async fn visitor(&self, number: u64) -> Result<Visitor, Error> {
        let visitor = self.chats.visitor_by_number(&self.session.account_id, number, self.now).await?;
        let visitor = visitor.ok_or(Error::NotFound)?;
        if self.session.viewer().is_admin {
            return Ok(visitor);
        }
        let hidden = Error::Forbidden("the visitor's chat is offered to other agents");
        let Some(chat_id) = visitor.open_chat.or(visitor.last_chat) else { return Err(hidden) };
        match self.chat(chat_id).await {
            Ok(_) => Ok(visitor),
            Err(Error::NotFound | Error::Forbidden(_)) => Err(hidden),
            Err(error) => Err(error),
        }
    }

    /// At most `limit` chats in these states that the agent sees, newest first, with numbers below `before`. For each state
    /// a query, all at once, then a read for each header: as many as are wanted, and where chats of others are among them,
    /// as many again as were hidden. Where the agent is no admin, also the channels of these chats and the roster, which are
    /// cached. A list that had much to look through ends early.
    pub async fn list(&self, states: &[&'static str], before: Option<u64>, limit: usize) -> Result<Listed, Error> {
        let mut listing = self.chats.listing(&self.session.account_id, states, before);
        let (mut found, mut looked_at) = (Vec::new(), 0);
        loop {
            let hidden = looked_at - found.len();
            let count = (limit - found.len()).max(hidden).min(MAX_HEADERS_PER_READ);
            let Listed { chats, next } = listing.next(count).await?;
            looked_at += chats.len();
            let seen = self.seen_of(chats).await?;
            found.extend(seen.into_iter().filter(|chat| !chat.is_expired(self.now)));
            if found.len() > limit {
                found.truncate(limit);
                let next = found.last().map(|chat| chat.chat_id);
                return Ok(Listed { chats: found, next });
            }
            if next.is_none() || found.len() == limit || looked_at >= MAX_HEADERS_PER_LIST {
                return Ok(Listed { chats: found, next });
            }
        }
    }

    /// Those of these chats that the agent sees.
    async fn seen_of(&self, mut chats: Vec<Chat>) -> Result<Vec<Chat>, Error> {
        let (viewer, account_id) = (self.session.viewer(), &self.session.account_id);
        let in_doubt = || chats.iter().filter(|chat| !viewer.sees_anyway(chat));
        let channel_ids: BTreeSet<&str> = in_doubt().map(|chat| chat.channel_id.as_str()).collect();
        if channel_ids.is_empty() {
            return Ok(chats);
        }
        let channels = self.directory.cached_channels(&channel_ids);
        let (channels, mut roster) = try_join(channels, self.directory.cached_roster(account_id)).await?;
        let settings = |chat: &Chat| channels.get(&chat.channel_id).map(|channel| &channel.settings);
        if in_doubt().any(|chat| may_be_outdated(&roster, chat, viewer, settings(chat))) {
            roster = self.directory.fresh_roster(account_id).await?;
        }
        chats.retain(|chat| viewer.sees(chat, &roster, settings(chat)));
        Ok(chats)
    }
}

/// Whether a cached roster may be older than what makes the chat visible to more agents than it is meant for: it has
/// nobody of the department to which the chat is offered, or nobody whom its channel names.
fn may_be_outdated(roster: &Roster, chat: &Chat, viewer: Viewer, channel: Option<&ChannelSettings>) -> bool {
    let is_unknown = chat.state.offer().is_some_and(|id| roster.is_offered(id, viewer.agent_id).is_none());
    let is_for_all =
        channel.is_some_and(|channel| channel.names_somebody() && roster.audience(channel) == Audience::Everybody);
    is_unknown || is_for_all
}
