//! The stored form of a chat's header: an item in the Chats table. The update expressions in `store::chats` refer to
//! the item's attributes by name.

use serde::{Deserialize, Serialize};

use crate::domain::agent::AgentSnapshot;
use crate::domain::chat::{Chat, MessagePreview, Rating, ReceiversFailingUntil};
use crate::domain::chat_state::ChatState;
use crate::domain::department::ChatDepartment;
use crate::domain::rate_limit::RateWindow;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::due_index::Backlog;
use crate::store::chats::items::unknown_value;
use crate::store::chats::{header_key, listing_key};

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct HeaderItem {
    pk: String,
    sk: String,
    /// The header's partition key in the `listing` index; see [`listing_key`].
    listing: String,
    account_id: String,
    chat_id: u64,
    state: String,
    #[serde(default)]
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentSnapshotItem>,
    /// The department to which a waiting chat is offered after a transfer; only its members see the offer. `None` means
    /// that the chat is not offered to a department.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offered_to: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    department: Option<ChatDepartmentItem>,
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
    last_message: Option<MessagePreviewItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    typing_started_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel_failing_until: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_failing_until: Option<u64>,
    rate_started_at: u64,
    rate_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rating: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retention_days: Option<u32>,
    /// The header's partition key in the `due` index. It is set while the chat is open; otherwise, it is `None`.
    /// `due_at` is the time of the next idle check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_at: Option<u64>,
    /// When a closed chat expires, as Unix time in seconds. `None` means that the chat is open or never expires. This
    /// is the table's TTL attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

impl HeaderItem {
    /// Creates the item of a new chat. `next_idle_check` is ignored if the chat is closed from the start.
    pub(in crate::store) fn new(chat: &Chat, next_idle_check: Timestamp) -> Self {
        let is_open = !chat.state.is_closed();
        let expires_at = chat.retain_until(chat.updated_at).filter(|_| !is_open);
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
            typing_started_at,
            failing_until,
            rate,
            rating,
            retention_days,
        } = chat.clone();
        let key = header_key(&account_id, chat_id);
        Self {
            pk: key.pk,
            sk: key.sk,
            listing: listing_key(&account_id, state.name()),
            account_id,
            chat_id,
            agent: state.agent().map(AgentSnapshotItem::from),
            offered_to: state.offered_department(),
            department: department.as_ref().map(ChatDepartmentItem::from),
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
            last_message: last_message.as_ref().map(MessagePreviewItem::from),
            typing_started_at: typing_started_at.map(|at| at.0),
            channel_failing_until: failing_until.channel.map(|at| at.0),
            bot_failing_until: failing_until.bot.map(|at| at.0),
            rate_started_at: rate.started_at.0,
            rate_count: rate.count,
            rating: rating.map(|rating| rating.name().to_owned()),
            retention_days,
            due: is_open.then(|| Backlog::IdleChecks.partition_of(chat_id)),
            due_at: is_open.then_some(next_idle_check.0),
            expires_at: expires_at.map(Timestamp::seconds),
        }
    }
}

impl TryFrom<HeaderItem> for Chat {
    type Error = Error;

    fn try_from(item: HeaderItem) -> Result<Self, Error> {
        let agent = item.agent.map(AgentSnapshot::from);
        let state = match (item.state.as_str(), agent, item.offered_to) {
            ("bot", _, _) => ChatState::Bot,
            ("waiting", _, None) => ChatState::Waiting,
            ("waiting", _, Some(department_id)) => ChatState::Offered(department_id),
            ("active", Some(agent), _) => ChatState::Active(agent),
            ("closed", agent, _) => ChatState::Closed(agent),
            _ => return Err(unknown_value("state")()),
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
            last_message: item.last_message.map(MessagePreview::from),
            typing_started_at: item.typing_started_at.map(Timestamp),
            failing_until: ReceiversFailingUntil {
                channel: item.channel_failing_until.map(Timestamp),
                bot: item.bot_failing_until.map(Timestamp),
            },
            rate: RateWindow { started_at: Timestamp(item.rate_started_at), count: item.rate_count },
            rating: item.rating.as_deref().and_then(Rating::parse),
            retention_days: item.retention_days,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct AgentSnapshotItem {
    agent_id: u64,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    photo: Option<String>,
}

impl From<&AgentSnapshot> for AgentSnapshotItem {
    fn from(author: &AgentSnapshot) -> Self {
        let AgentSnapshot { agent_id, name, photo } = author.clone();
        Self { agent_id, name, photo }
    }
}

impl From<AgentSnapshotItem> for AgentSnapshot {
    fn from(item: AgentSnapshotItem) -> Self {
        let AgentSnapshotItem { agent_id, name, photo } = item;
        Self { agent_id, name, photo }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct ChatDepartmentItem {
    id: u64,
    name: String,
}

impl From<&ChatDepartment> for ChatDepartmentItem {
    fn from(department: &ChatDepartment) -> Self {
        let ChatDepartment { department_id: id, name } = department.clone();
        Self { id, name }
    }
}

impl From<ChatDepartmentItem> for ChatDepartment {
    fn from(item: ChatDepartmentItem) -> Self {
        let ChatDepartmentItem { id: department_id, name } = item;
        Self { department_id, name }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct MessagePreviewItem {
    from: String,
    kind: String,
    text: String,
    at: u64,
}

impl From<&MessagePreview> for MessagePreviewItem {
    fn from(preview: &MessagePreview) -> Self {
        let MessagePreview { from, kind, text, at } = preview.clone();
        Self { from, kind, text, at: at.0 }
    }
}

impl From<MessagePreviewItem> for MessagePreview {
    fn from(item: MessagePreviewItem) -> Self {
        let MessagePreviewItem { from, kind, text, at } = item;
        Self { from, kind, text, at: Timestamp(at) }
    }
}
