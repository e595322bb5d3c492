//! The chats and visitors that a signed-in agent may see. Every agent endpoint reads its chat through this module, and
//! every push about a chat is checked here, so that the same rule, [`Viewer::sees`], applies to lists, reads, writes
//! and pushes.

use std::collections::{BTreeSet, HashMap};
use std::slice;
use std::sync::Arc;

use futures_util::future::{try_join, try_join_all};

use crate::domain::accounts::agent::Role;
use crate::domain::accounts::department::{Audience, Roster};
use crate::domain::channels::channel::{Channel, ChannelSettings};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_filter::ChatFilter;
use crate::domain::chats::chat_visibility::Viewer;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::merged_visitors::{KnownChats, newest_chats};
use crate::domain::visitors::visitor::{MAX_RECENT_CHATS, Visitor};
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::listing::chat_listing::{ChatListing, ChatPage, MAX_HEADERS_PER_READ};
use crate::store::connections::sessions::Session;
use crate::store::directory::Directory;

/// A list request stops when it has read at least this many chat headers, even if its page is not full.
const MAX_HEADERS_PER_LIST: usize = 1_000;

pub struct ChatAccess<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub session: &'a Session,
    pub now: Timestamp,
}

impl ChatAccess<'_> {
    /// Reads a chat that the agent may see.
    ///
    /// # Errors
    /// Fails with `NotFound` if the chat does not exist or its retention period has ended. Fails with `Forbidden` if
    /// the chat is offered to other agents.
    pub async fn chat(&self, chat_id: u64) -> Result<Chat, Error> {
        self.require_visible(self.chats.chat(&self.session.account_id, chat_id).await?).await
    }

    /// Does the same check as [`chat`](Self::chat) for a header that the caller has already read. `None` means that the
    /// chat does not exist.
    pub async fn require_visible(&self, chat: Option<Chat>) -> Result<Chat, Error> {
        let chat = chat.filter(|chat| !chat.is_expired(self.now)).ok_or(Error::NotFound)?;
        let visible = self.visible_chats(vec![chat]).await?.pop();
        visible.ok_or(Error::Forbidden("the chat is offered to other agents"))
    }

    /// Reads a visitor. The agent must be allowed to see the visitor's open or most recent chat.
    pub async fn visitor(&self, number: u64) -> Result<Visitor, Error> {
        let visitor = self.chats.visitor_by_number(&self.session.account_id, number, self.now).await?;
        let visitor = visitor.ok_or(Error::NotFound)?;
        if self.sees_visitor(&visitor).await? {
            return Ok(visitor);
        }
        Err(Error::Forbidden("the visitor's chat is offered to other agents"))
    }

    /// Returns the visitors with whom this one is merged, and whom the agent may see.
    pub async fn merged_visitors(&self, visitor: &Visitor) -> Result<Vec<Visitor>, Error> {
        let others = self.chats.merged_visitors(visitor, self.now).await?;
        let are_seen = try_join_all(others.iter().map(|other| self.sees_visitor(other))).await?;
        Ok(others.into_iter().zip(are_seen).filter_map(|(other, is_seen)| is_seen.then_some(other)).collect())
    }

    /// Returns the visitor as the agent sees it, completed by those with whom it is merged.
    pub async fn shown(&self, visitor: Visitor) -> Result<Visitor, Error> {
        let others = self.merged_visitors(&visitor).await?;
        Ok(visitor.completed_by(&others))
    }

    async fn sees_visitor(&self, visitor: &Visitor) -> Result<bool, Error> {
        if self.session.viewer().is_admin {
            return Ok(true);
        }
        let Some(chat_id) = visitor.open_chat.or(visitor.last_chat) else { return Ok(false) };
        match self.chat(chat_id).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound | Error::Forbidden(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns at most `limit` visible chats from a listing of the account's chats, newest first. If many chats are
    /// hidden, a page may be shorter than `limit`; `next` then continues the list.
    pub async fn list(&self, mut listing: ChatListing<'_>, limit: usize) -> Result<ChatPage, Error> {
        let (mut visible, mut headers_read) = (Vec::new(), 0);
        loop {
            let hidden = headers_read - visible.len();
            let count = (limit - visible.len()).max(hidden).min(MAX_HEADERS_PER_READ);
            let ChatPage { chats, next } = listing.next(count).await?;
            headers_read += chats.len();
            visible.extend(self.visible_chats(chats).await?);
            if visible.len() > limit {
                visible.truncate(limit);
                let next = visible.last().map(|chat| chat.chat_id);
                return Ok(ChatPage { chats: visible, next });
            }
            if next.is_none() || visible.len() == limit || headers_read >= MAX_HEADERS_PER_LIST {
                return Ok(ChatPage { chats: visible, next });
            }
        }
    }

    /// Returns a page of at most ten of the chats of a visitor and of those with whom the visitor is merged, newest
    /// first. `after` is the `next` value of the previous page. The agent must be allowed to see the visitor; chats that
    /// the agent must not see are omitted.
    pub async fn visitor_chats(&self, number: u64, after: Option<u64>) -> Result<ChatPage, Error> {
        let account_id = &self.session.account_id;
        let visitor = self.visitor(number).await?;
        let others = self.merged_visitors(&visitor).await?;
        let visitors: Vec<Visitor> = [visitor].into_iter().chain(others).collect();
        let cursor = match after {
            None => None,
            Some(chat_id) => match self.chats.chat(account_id, chat_id).await? {
                Some(chat) if visitors.iter().any(|visitor| visitor.number == chat.visitor_number) => Some(chat),
                Some(_) => return Err(Error::field("cursor", "belongs to a different visitor")),
                // The chat has been deleted since the previous page was read, and so have the earlier ones.
                None => return Ok(ChatPage { chats: Vec::new(), next: None }),
            },
        };
        let known = visitors.into_iter().map(|visitor| self.known_chats(visitor, cursor.as_ref()));
        let mut known = try_join_all(known).await?;
        loop {
            let chat_ids = newest_chats(&known, MAX_RECENT_CHATS);
            let chats = self.chats.chats_by_id(account_id, &chat_ids).await?;
            let Some(oldest) = chat_ids.last().filter(|_| chats.is_empty()) else {
                let next = chats.last().filter(|_| has_earlier_chats(&known, &chats)).map(|chat| chat.chat_id);
                return Ok(ChatPage { chats: self.visible_chats(chats).await?, next });
            };
            // All of these have been deleted, and with them those before them of the same visitors.
            known = known.into_iter().map(|known| known.before(*oldest)).collect();
        }
    }

    /// Returns a visitor's newest chats before the chat `cursor`, which can be that of another visitor.
    async fn known_chats(&self, visitor: Visitor, cursor: Option<&Chat>) -> Result<KnownChats, Error> {
        let newest = KnownChats::new(visitor.recent_chats);
        let Some(cursor) = cursor else { return Ok(newest) };
        if cursor.visitor_number == visitor.number {
            return Ok(KnownChats::new(cursor.previous_chats.clone()));
        }
        let mut known = newest;
        loop {
            let Some(oldest) = known.chat_ids.last().copied().filter(|oldest| *oldest > cursor.chat_id) else {
                return Ok(known.before(cursor.chat_id));
            };
            let oldest = self.chats.chat(&self.session.account_id, oldest).await?;
            known = oldest.map(|chat| KnownChats::new(chat.previous_chats)).unwrap_or_default();
        }
    }

    /// Returns at most `limit` visible chats that the filter selects, newest first. Only one batch of headers is read,
    /// so that a page takes two requests to the tables, however few chats the filter selects; `next` continues the
    /// list.
    pub async fn filtered_list(
        &self,
        mut listing: ChatListing<'_>,
        filter: &ChatFilter,
        limit: usize,
    ) -> Result<ChatPage, Error> {
        let ChatPage { mut chats, next } = listing.next(MAX_HEADERS_PER_READ).await?;
        chats.retain(|chat| filter.selects(chat, self.session.agent.agent_id, self.now));
        let mut selected = self.visible_chats(chats).await?;
        if selected.len() <= limit {
            return Ok(ChatPage { chats: selected, next });
        }
        selected.truncate(limit);
        let next = selected.last().map(|chat| chat.chat_id);
        Ok(ChatPage { chats: selected, next })
    }

    /// Fails if one of the agents whom a note mentions does not exist or does not see the chat.
    pub async fn require_seen_by(&self, agent_ids: &[u64], chat: &Chat) -> Result<(), Error> {
        let account_id = &self.session.account_id;
        let agents = agent_ids.iter().map(|agent_id| self.directory.agent(account_id, *agent_id));
        let agents = try_join_all(agents).await?.into_iter().flatten();
        let viewers: Vec<Viewer> =
            agents.map(|agent| Viewer { agent_id: agent.agent_id, is_admin: agent.role == Role::Admin }).collect();
        let visibility = ChatVisibility::read(self.directory, account_id, &viewers, slice::from_ref(chat)).await?;
        let sees = |agent_id: u64| viewers.iter().any(|it| it.agent_id == agent_id && visibility.sees(*it, chat));
        match agent_ids.iter().position(|agent_id| !sees(*agent_id)) {
            Some(index) => Err(Error::field(format!("mentions[{index}]"), "does not see the chat")),
            None => Ok(()),
        }
    }

    /// Removes from `chats` those that the agent must not see and those whose retention period has ended, and returns
    /// the rest.
    pub(crate) async fn visible_chats(&self, mut chats: Vec<Chat>) -> Result<Vec<Chat>, Error> {
        chats.retain(|chat| !chat.is_expired(self.now));
        let viewer = self.session.viewer();
        let visibility = ChatVisibility::read(self.directory, &self.session.account_id, &[viewer], &chats).await?;
        chats.retain(|chat| visibility.sees(viewer, chat));
        Ok(chats)
    }
}

/// Whether a person may have chats before those that were read.
fn has_earlier_chats(known: &[KnownChats], read: &[Chat]) -> bool {
    known.iter().filter_map(|known| known.chat_ids.last()).any(|oldest| {
        let oldest = read.iter().find(|chat| chat.chat_id == *oldest);
        oldest.is_none_or(|chat| !chat.previous_chats.is_empty())
    })
}

/// The channels and the roster that determine which viewers see which of an account's chats.
pub(crate) struct ChatVisibility {
    channels: HashMap<String, Arc<Channel>>,
    roster: Arc<Roster>,
}

impl ChatVisibility {
    /// Reads the data that determines which of `viewers` see which of `chats`.
    pub(crate) async fn read(
        directory: &Directory,
        account_id: &str,
        viewers: &[Viewer],
        chats: &[Chat],
    ) -> Result<Self, Error> {
        let is_undecided = |chat: &Chat| viewers.iter().any(|viewer| !viewer.sees_regardless_of_audience(chat));
        let undecided: Vec<&Chat> = chats.iter().filter(|chat| is_undecided(chat)).collect();
        let channel_ids: BTreeSet<&str> = undecided.iter().map(|chat| chat.channel_id.as_str()).collect();
        if channel_ids.is_empty() {
            return Ok(Self { channels: HashMap::new(), roster: Arc::default() });
        }
        let channels = directory.cached_channels(&channel_ids);
        let (channels, roster) = try_join(channels, directory.cached_roster(account_id)).await?;
        let mut visibility = Self { channels, roster };
        if undecided.iter().any(|chat| viewers.iter().any(|viewer| visibility.may_be_outdated(chat, *viewer))) {
            visibility.roster = directory.fresh_roster(account_id).await?;
        }
        Ok(visibility)
    }

    pub(crate) fn sees(&self, viewer: Viewer, chat: &Chat) -> bool {
        viewer.sees(chat, &self.roster, self.channel(chat))
    }

    fn channel(&self, chat: &Chat) -> Option<&ChannelSettings> {
        self.channels.get(&chat.channel_id).map(|channel| &channel.settings)
    }

    /// Whether the cached roster may be too old to decide whether a viewer may see a chat. An outdated roster does not
    /// contain the department to which the chat is offered, or the agents that the chat's channel names, so it would
    /// make the chat visible to every agent.
    fn may_be_outdated(&self, chat: &Chat, viewer: Viewer) -> bool {
        if viewer.sees_regardless_of_audience(chat) {
            return false;
        }
        let roster = &self.roster;
        let is_unknown =
            chat.state.offered_department().is_some_and(|id| roster.offer_includes(id, viewer.agent_id).is_none());
        let is_for_all = self
            .channel(chat)
            .is_some_and(|channel| channel.has_limited_audience() && roster.audience(channel) == Audience::AllAgents);
        is_unknown || is_for_all
    }
}
