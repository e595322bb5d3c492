//! Changes of a chat's owner. Each is one conditional write of the header; what the bot must be told of it is
//! an entry of the timeline, written in the same transaction, so that neither is without the other.

use super::chat_items::{AuthorItem, EntryItem};
use super::chats::{Chats, head_key, listing, visitor_key};
use super::table::{Change, Refused, Write, n, s};
use super::{RACES, to_attribute, to_item};
use crate::domain::account::Author;
use crate::domain::bot::Notice;
use crate::domain::chat::{Chat, From};
use crate::domain::content::Content;
use crate::domain::delivery::{Delivery, Target};
use crate::domain::entry::Entry;
use crate::domain::ownership::{Event, State};
use crate::domain::timestamp::Timestamp;
use crate::error::{Context, Error};

/// Chats that are released before the list is read again.
const RELEASED_AT_ONCE: usize = 100;

/// A change that was made.
#[derive(Debug)]
pub struct Transition {
    /// The chat afterwards.
    pub chat: Chat,
    /// What the bot is to be told, to be queued.
    pub notice: Option<Entry>,
}

/// What a transition does besides changing the owner.
struct Plan {
    state: State,
    notice: Option<Notice>,
    /// Whether the bot has reacted to what was written before.
    bot_reacted: bool,
}

impl Chats {
    /// Gives the chat to the agent who pressed Reply. A read and a write; with a bot, a transaction of two.
    pub async fn accept(
        &self,
        account_id: &str,
        chat_id: u64,
        agent: &Author,
        now: Timestamp,
    ) -> Result<Transition, Error> {
        // Every write of the header would pay for a long address.
        let without_photo = Author { photo: None, ..agent.clone() };
        let plan = |before: &Chat| {
            let state = before.state.after(Event::Accept(&without_photo))?;
            let notice = before.bot_id.is_some().then_some(Notice::AgentJoined);
            Ok(Plan { state, notice, bot_reacted: false })
        };
        self.transition(account_id, chat_id, now, &plan).await
    }

    /// Ends a chat, together with the visitor's pointer to it. A read and a transaction of two, with a bot of three.
    pub async fn close(
        &self,
        account_id: &str,
        chat_id: u64,
        agent: &Author,
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let plan = |before: &Chat| {
            let state = before.state.after(Event::Close(agent))?;
            let notice = before.bot_id.is_some().then_some(Notice::ChatClosed);
            Ok(Plan { state, notice, bot_reacted: false })
        };
        self.transition(account_id, chat_id, now, &plan).await
    }

    /// INVITE_AGENT: hands the chat to the agents, or tells the bot that none is there.
    pub async fn invite_agent(
        &self,
        account_id: &str,
        chat_id: u64,
        agent_online: bool,
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let plan = |before: &Chat| {
            let state = before.state.after(Event::BotInvites { agent_online })?;
            let notice = (!agent_online).then_some(Notice::AgentUnavailable);
            Ok(Plan { state, notice, bot_reacted: true })
        };
        self.transition(account_id, chat_id, now, &plan).await
    }

    /// Hands the chat of a bot that failed to the agents. With `unanswered`, only if the bot has not reacted since
    /// that entry. False when there was nothing to hand over.
    pub async fn bot_failed(
        &self,
        account_id: &str,
        chat_id: u64,
        unanswered: Option<u64>,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let plan = |before: &Chat| {
            let has_reacted = unanswered.is_some_and(|seq| before.bot_seq.is_some_and(|bot_seq| bot_seq > seq));
            if has_reacted {
                return Err(Error::Conflict("the bot has answered"));
            }
            let state = before.state.after(Event::BotFails)?;
            Ok(Plan { state, notice: None, bot_reacted: false })
        };
        match self.transition(account_id, chat_id, now, &plan).await {
            Ok(_) => Ok(true),
            Err(Error::Forbidden(_) | Error::Conflict(_) | Error::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives the chats of an agent who is gone back to the others: they wait again.
    pub async fn release(&self, account_id: &str, agent_id: u64, now: Timestamp) -> Result<(), Error> {
        let is_theirs = |chat: &Chat| chat.state.agent().is_some_and(|agent| agent.agent_id == agent_id);
        let plan = |before: &Chat| {
            let state = before.state.after(Event::AgentGone(agent_id))?;
            Ok(Plan { state, notice: None, bot_reacted: false })
        };
        loop {
            let theirs = self.list(account_id, &["active"], None, RELEASED_AT_ONCE, &is_theirs).await?;
            if theirs.is_empty() {
                return Ok(());
            }
            for chat in theirs {
                self.transition(account_id, chat.chat_id, now, &plan).await?;
            }
        }
    }

    async fn transition(
        &self,
        account_id: &str,
        chat_id: u64,
        now: Timestamp,
        plan: &(dyn Fn(&Chat) -> Result<Plan, Error> + Sync),
    ) -> Result<Transition, Error> {
        for _ in 0..RACES {
            let before = self.chat(account_id, chat_id).await?.ok_or(Error::NotFound)?;
            let plan = plan(&before)?;
            if plan.state == before.state && plan.notice != Some(Notice::AgentUnavailable) {
                return Ok(Transition { chat: before, notice: None });
            }
            match self.commit(&before, plan, now).await {
                Ok(transition) => return Ok(transition),
                Err(Refused::Error(error)) => return Err(error),
                Err(Refused::Condition { .. } | Refused::Contended) => {}
            }
        }
        Err(Error::Unavailable(Context::new("a transition lost every race")))
    }

    async fn commit(&self, before: &Chat, plan: Plan, now: Timestamp) -> Result<Transition, Refused> {
        let Plan { state, notice, bot_reacted } = plan;
        let seq = before.seq + u64::from(notice.is_some() || bot_reacted);
        let mut after = Chat { state, updated_at: now, typing_since: None, seq, ..before.clone() };
        if bot_reacted {
            after.bot_seq = Some(after.seq);
        }
        let notice = notice.map(|notice| entry(&after, notice, now)).transpose().map_err(Refused::Error)?;
        let head = head_change(before, &after).map_err(Refused::Error)?;
        let mut others = Vec::new();
        if let Some(entry) = &notice {
            others.push(Write::Create(to_item(&EntryItem::from(entry)).map_err(Refused::Error)?));
        }
        if after.state.is_closed() {
            others.push(forget_open_chat(before));
        }
        if others.is_empty() {
            self.table.update(head).await?;
        } else {
            others.push(Write::Change(head));
            self.table.transact(others).await?;
        }
        Ok(Transition { chat: after, notice })
    }
}

fn entry(chat: &Chat, notice: Notice, now: Timestamp) -> Result<Entry, Error> {
    Ok(Entry {
        account_id: chat.account_id.clone(),
        chat_id: chat.chat_id,
        seq: chat.seq,
        id: crate::secret::message_id(chat.chat_id, chat.seq)?,
        from: From::System,
        content: Content::notice(notice),
        at: now,
        delivery: Some(Delivery::new(Target::Bot, now)),
    })
}

/// The condition holds as long as nothing at all was written in the chat since it was read.
fn head_change(before: &Chat, after: &Chat) -> Result<Change, Error> {
    Ok(Change {
        key: head_key(&before.account_id, before.chat_id),
        update: "SET #state = :state, #agent = :agent, #listing = :listing, #updated_at = :now, #seq = :seq, \
                 #bot_seq = :bot_seq REMOVE #typing_since",
        condition: "#state = :before AND #seq = :old_seq",
        values: vec![
            (":state", s(after.state.name())),
            (":agent", to_attribute(&after.state.agent().map(AuthorItem::from))?),
            (":listing", s(listing(&after.account_id, after.state.name()))),
            (":now", n(after.updated_at.0)),
            (":seq", n(after.seq)),
            (":bot_seq", to_attribute(&after.bot_seq)?),
            (":before", s(before.state.name())),
            (":old_seq", n(before.seq)),
        ],
    })
}

fn forget_open_chat(before: &Chat) -> Write {
    Write::Change(Change {
        key: visitor_key(&before.channel_id, &before.external_id),
        update: "REMOVE #open_chat",
        condition: "#open_chat = :chat",
        values: vec![(":chat", n(before.chat_id))],
    })
}
