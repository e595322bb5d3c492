//! The header of a chat, one item beside its entries.

use serde::{Deserialize, Serialize};

use crate::domain::account::Author;
use crate::domain::chat::{Chat, Failing, Preview, Rating};
use crate::domain::chat_state::State;
use crate::domain::department::ChatDepartment;
use crate::domain::rate::Window;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::deliveries::Backlog;
use crate::store::chats::items::unknown;
use crate::store::chats::{head_key, listing_key};

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct HeadItem {
    pk: String,
    sk: String,
    /// Key of the index that lists chats, see [`listing`].
    listing: String,
    account_id: String,
    chat_id: u64,
    state: String,
    /// Condition of every transition, see [`Chat::version`].
    #[serde(default)]
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AuthorItem>,
    /// The department to which alone a waiting chat is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offered_to: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    department: Option<DepartmentItem>,
    channel_id: String,
    channel_name: String,
    external_id: String,
    #[serde(default)]
    has_numeric_id: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invite_hash: Option<String>,
    visitor_number: u64,
    visitor_name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    participants: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_event_at: Option<u64>,
    seq: u64,
    opened_at: u64,
    updated_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_message: Option<PreviewItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    typing_since: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel_failing_until: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_failing_until: Option<u64>,
    rate_since: u64,
    rate_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rating: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep_days: Option<u32>,
    /// Key of the index of what is due, while the chat is open: when to look whether it rests too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_at: Option<u64>,
    /// For the table's own deletion, when the chat is closed: seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

impl HeadItem {
    /// The header of a chat that begins. While it is open, somebody looks then whether it rests too long.
    pub(in crate::store) fn new(chat: &Chat, next_idle_check: Timestamp) -> Self {
        let is_open = !chat.state.is_closed();
        let forgotten = chat.keep_until(chat.updated_at).filter(|_| !is_open);
        let Chat {
            account_id,
            chat_id,
            state,
            version,
            channel_id,
            channel_name,
            external_id,
            has_numeric_id,
            invite_hash,
            visitor_number,
            visitor_name,
            department,
            participants,
            bot_id,
            bot_event_at,
            seq,
            opened_at,
            updated_at,
            last_message,
            typing_since,
            failing,
            rate,
            rating,
            keep_days,
        } = chat.clone();
        let key = head_key(&account_id, chat_id);
        Self {
            pk: key.pk,
            sk: key.sk,
            listing: listing_key(&account_id, state.name()),
            account_id,
            chat_id,
            agent: state.agent().map(AuthorItem::from),
            offered_to: state.offer(),
            department: department.as_ref().map(DepartmentItem::from),
            state: state.name().to_owned(),
            version,
            channel_id,
            channel_name,
            external_id,
            has_numeric_id,
            invite_hash,
            visitor_number,
            visitor_name,
            participants,
            bot_id,
            bot_event_at: bot_event_at.map(|at| at.0),
            seq,
            opened_at: opened_at.0,
            updated_at: updated_at.0,
            last_message: last_message.as_ref().map(PreviewItem::from),
            typing_since: typing_since.map(|at| at.0),
            channel_failing_until: failing.channel.map(|at| at.0),
            bot_failing_until: failing.bot.map(|at| at.0),
            rate_since: rate.since.0,
            rate_count: rate.count,
            rating: rating.map(|rating| rating.name().to_owned()),
            keep_days,
            due: is_open.then(|| Backlog::IdleChecks.partition_of(chat_id)),
            due_at: is_open.then_some(next_idle_check.0),
            expires_at: forgotten.map(Timestamp::seconds),
        }
    }
}

impl TryFrom<HeadItem> for Chat {
    type Error = Error;

    fn try_from(item: HeadItem) -> Result<Self, Error> {
        let agent = item.agent.map(Author::from);
        let state = match (item.state.as_str(), agent, item.offered_to) {
            ("bot", _, _) => State::Bot,
            ("waiting", _, None) => State::Waiting,
            ("waiting", _, Some(department_id)) => State::Offered(department_id),
            ("active", Some(agent), _) => State::Active(agent),
            ("closed", agent, _) => State::Closed(agent),
            _ => return Err(unknown("state")()),
        };
        Ok(Self {
            account_id: item.account_id,
            chat_id: item.chat_id,
            state,
            version: item.version,
            channel_id: item.channel_id,
            channel_name: item.channel_name,
            external_id: item.external_id,
            has_numeric_id: item.has_numeric_id,
            invite_hash: item.invite_hash,
            visitor_number: item.visitor_number,
            visitor_name: item.visitor_name,
            department: item.department.map(ChatDepartment::from),
            participants: item.participants,
            bot_id: item.bot_id,
            bot_event_at: item.bot_event_at.map(Timestamp),
            seq: item.seq,
            opened_at: Timestamp(item.opened_at),
            updated_at: Timestamp(item.updated_at),
            last_message: item.last_message.map(Preview::from),
            typing_since: item.typing_since.map(Timestamp),
            failing: Failing {
                channel: item.channel_failing_until.map(Timestamp),
                bot: item.bot_failing_until.map(Timestamp),
            },
            rate: Window { since: Timestamp(item.rate_since), count: item.rate_count },
            rating: item.rating.as_deref().and_then(Rating::parse),
            keep_days: item.keep_days,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct AuthorItem {
    agent_id: u64,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    photo: Option<String>,
}

impl From<&Author> for AuthorItem {
    fn from(author: &Author) -> Self {
        let Author { agent_id, name, photo } = author.clone();
        Self { agent_id, name, photo }
    }
}

impl From<AuthorItem> for Author {
    fn from(item: AuthorItem) -> Self {
        let AuthorItem { agent_id, name, photo } = item;
        Self { agent_id, name, photo }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct DepartmentItem {
    id: u64,
    name: String,
}

impl From<&ChatDepartment> for DepartmentItem {
    fn from(department: &ChatDepartment) -> Self {
        let ChatDepartment { department_id: id, name } = department.clone();
        Self { id, name }
    }
}

impl From<DepartmentItem> for ChatDepartment {
    fn from(item: DepartmentItem) -> Self {
        let DepartmentItem { id: department_id, name } = item;
        Self { department_id, name }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct PreviewItem {
    from: String,
    kind: String,
    text: String,
    at: u64,
}

impl From<&Preview> for PreviewItem {
    fn from(preview: &Preview) -> Self {
        let Preview { from, kind, text, at } = preview.clone();
        Self { from, kind, text, at: at.0 }
    }
}

impl From<PreviewItem> for Preview {
    fn from(item: PreviewItem) -> Self {
        let PreviewItem { from, kind, text, at } = item;
        Self { from, kind, text, at: Timestamp(at) }
    }
}
