//! The stored form of a chat's header: an item in the Chats table. The update expressions in `store::chats` refer to
//! the item's attributes by name.

use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::department::ChatDepartment;
use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::answer_timer::AnswerDue;
use crate::domain::chats::bot_handover::{BotHandover, HandoverPriority, HandoverReason};
use crate::domain::chats::chat::{BotAnswers, Chat, FormerBot, MessagePreview, Rating};
use crate::domain::chats::chat_assignment::{AgentOffer, ChatAssignment};
use crate::domain::chats::chat_change::Snooze;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::mention::Mention;
use crate::domain::deliveries::delivery::Target;
use crate::domain::time_zone::{Day, TimeZone};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{Backlog, closed_chats_partition};
use crate::store::chats::items::unknown_value;
use crate::store::chats::{header_key, listing_key};

#[derive(Serialize, Deserialize)]
pub(crate) struct HeaderItem {
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
    /// The department to which a waiting chat is offered after a transfer. `None` means that the chat is not offered to
    /// a department.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offered_to: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    department: Option<ChatDepartmentItem>,
    channel_id: String,
    /// `None` stands for an API channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel_kind: Option<String>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former_bots: Vec<FormerBotItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given_to_bot_at: Option<u64>,
    #[serde(default)]
    visitor_seq: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    superseded_answers: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    stopped_seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_event_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeated_to_bot: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handover: Option<BotHandoverItem>,
    seq: u64,
    opened_at: u64,
    /// `None` in chats that were opened before this attribute was introduced. Their day is the UTC day of `opened_at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opened_on: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_answer_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_joined_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closed_at: Option<u64>,
    updated_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    other_change_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_message: Option<MessagePreviewItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    messages_changed_at: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero_count")]
    planned: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waiting_since: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    typing_started_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    typing_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel_failing_until: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_failing_until: Option<u64>,
    /// A number set. A new chat has none, because DynamoDB does not store empty sets.
    #[serde(default, skip_serializing)]
    undelivered: Vec<u64>,
    /// Unused, like `rate_count`. Both are written as zero, because the previous version of the service requires them
    /// during a rollout. `visitor_message_rate` describes how a visitor's messages are counted.
    #[serde(default)]
    rate_started_at: u64,
    #[serde(default)]
    rate_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rating: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tag_ids: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snooze: Option<SnoozeItem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<MentionItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slot_of: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_offer: Option<AgentOfferItem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passed_by: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offer_ended_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_due: Option<AnswerDueItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retention_days: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    previous_chats: Vec<u64>,
    /// The header's partition key in the `due` index. While the chat is open, `due_at` is the time of the next idle
    /// check. Afterwards, it is the time at which the chat was closed or, if it was changed later, of the last change.
    /// `due` and `due_at` are `None` in chats that an earlier version of the service closed.
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
    /// Returns the item of a new chat. `next_idle_check` is ignored if the chat is already closed.
    pub(crate) fn new(chat: &Chat, next_idle_check: Timestamp) -> Self {
        let is_open = !chat.state.is_closed();
        let expires_at = chat.retain_until(chat.updated_at).filter(|_| !is_open);
        let Chat {
            account_id,
            chat_id,
            state,
            version,
            channel_id,
            channel_kind,
            channel_name,
            external_id,
            has_numeric_id,
            invite_hash,
            visitor_number,
            visitor_name,
            department,
            participants,
            bot_id,
            former_bots,
            given_to_bot_at,
            visitor_seq,
            bot_answers: BotAnswers { superseded, stopped_seq },
            bot_event_at,
            repeated_to_bot,
            handover,
            seq,
            opened_at,
            opened_on,
            first_answer_at,
            agent_joined_at,
            closed_at,
            updated_at,
            other_change_at,
            last_message,
            messages_changed_at,
            planned,
            waiting_since,
            typing_started_at,
            typing_text,
            failing_until,
            undelivered: _,
            rating,
            tag_ids,
            snooze,
            mentions,
            assignment: ChatAssignment { slot_of, offer, passed_by, offer_ended_at },
            answer_due,
            retention_days,
            previous_chats,
        } = chat.clone();
        let (due, due_at) = if is_open {
            (Backlog::IdleChecks.partition_of(chat_id), next_idle_check)
        } else {
            (closed_chats_partition(&account_id), updated_at)
        };
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
            channel_kind: (channel_kind != ChannelKind::Api).then(|| channel_kind.name().to_owned()),
            channel_name,
            external_id,
            has_numeric_id,
            invite_hash,
            visitor_number,
            visitor_name,
            participants,
            bot_id,
            former_bots: former_bots.into_iter().map(FormerBotItem::from).collect(),
            given_to_bot_at: given_to_bot_at.map(|at| at.0),
            visitor_seq,
            superseded_answers: superseded,
            stopped_seq,
            bot_event_at: bot_event_at.map(|at| at.0),
            repeated_to_bot,
            handover: handover.as_ref().map(BotHandoverItem::from),
            seq,
            opened_at: opened_at.0,
            opened_on: Some(opened_on.to_string()),
            first_answer_at: first_answer_at.map(|at| at.0),
            agent_joined_at: agent_joined_at.map(|at| at.0),
            closed_at: closed_at.map(|at| at.0),
            updated_at: updated_at.0,
            other_change_at: other_change_at.map(|at| at.0),
            last_message: last_message.as_ref().map(MessagePreviewItem::from),
            messages_changed_at: messages_changed_at.map(|at| at.0),
            planned,
            waiting_since: waiting_since.map(|at| at.0),
            typing_started_at: typing_started_at.map(|at| at.0),
            typing_text,
            channel_failing_until: failing_until.get(&Target::Channel).map(|at| at.0),
            bot_failing_until: failing_until.get(&Target::Bot).map(|at| at.0),
            undelivered: Vec::new(),
            rate_started_at: 0,
            rate_count: 0,
            rating: rating.map(|rating| rating.name().to_owned()),
            tag_ids,
            snooze: snooze.map(SnoozeItem::from),
            mentions: mentions.into_iter().map(MentionItem::from).collect(),
            slot_of,
            agent_offer: offer.map(AgentOfferItem::from),
            passed_by,
            offer_ended_at: offer_ended_at.map(|at| at.0),
            answer_due: answer_due.map(AnswerDueItem::from),
            retention_days,
            previous_chats,
            due: Some(due),
            due_at: Some(due_at.0),
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
        let opened_at = Timestamp(item.opened_at);
        let opened_on = item.opened_on.as_deref().and_then(Day::parse);
        Ok(Self {
            account_id: item.account_id,
            chat_id: item.chat_id,
            state,
            version: item.version,
            channel_id: item.channel_id,
            channel_kind: item.channel_kind.as_deref().and_then(ChannelKind::parse).unwrap_or_default(),
            channel_name: item.channel_name,
            external_id: item.external_id,
            has_numeric_id: item.has_numeric_id,
            invite_hash: item.invite_hash,
            visitor_number: item.visitor_number,
            visitor_name: item.visitor_name,
            department: item.department.map(ChatDepartment::from),
            participants: item.participants,
            bot_id: item.bot_id,
            former_bots: item.former_bots.into_iter().map(FormerBot::from).collect(),
            given_to_bot_at: item.given_to_bot_at.map(Timestamp),
            visitor_seq: item.visitor_seq,
            bot_answers: BotAnswers { superseded: item.superseded_answers, stopped_seq: item.stopped_seq },
            bot_event_at: item.bot_event_at.map(Timestamp),
            repeated_to_bot: item.repeated_to_bot,
            handover: item.handover.map(BotHandover::from),
            seq: item.seq,
            opened_at,
            opened_on: opened_on.unwrap_or_else(|| Day::of(opened_at, &TimeZone::default())),
            // For a chat that is older than the report counters, it is unknown whether an agent has answered. The chat
            // counts as answered, so that no later message is counted as its first answer.
            first_answer_at: item.first_answer_at.map(Timestamp).or(opened_on.is_none().then_some(opened_at)),
            agent_joined_at: item.agent_joined_at.map(Timestamp),
            closed_at: item.closed_at.map(Timestamp),
            updated_at: Timestamp(item.updated_at),
            other_change_at: item.other_change_at.map(Timestamp),
            last_message: item.last_message.map(MessagePreview::from),
            messages_changed_at: item.messages_changed_at.map(Timestamp),
            planned: item.planned,
            waiting_since: item.waiting_since.map(Timestamp),
            typing_started_at: item.typing_started_at.map(Timestamp),
            typing_text: item.typing_text,
            failing_until: [(Target::Channel, item.channel_failing_until), (Target::Bot, item.bot_failing_until)]
                .into_iter()
                .filter_map(|(target, until)| Some((target, Timestamp(until?))))
                .collect(),
            undelivered: item.undelivered,
            rating: item.rating.as_deref().and_then(Rating::parse),
            tag_ids: item.tag_ids,
            snooze: item.snooze.map(Snooze::from),
            mentions: item.mentions.into_iter().map(Mention::from).collect(),
            assignment: ChatAssignment {
                slot_of: item.slot_of,
                offer: item.agent_offer.map(AgentOffer::from),
                passed_by: item.passed_by,
                offer_ended_at: item.offer_ended_at.map(Timestamp),
            },
            answer_due: item.answer_due.map(AnswerDue::from),
            retention_days: item.retention_days,
            previous_chats: item.previous_chats,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct MentionItem {
    agent_id: u64,
    seq: u64,
}

impl From<Mention> for MentionItem {
    fn from(Mention { agent_id, seq }: Mention) -> Self {
        Self { agent_id, seq }
    }
}

impl From<MentionItem> for Mention {
    fn from(MentionItem { agent_id, seq }: MentionItem) -> Self {
        Self { agent_id, seq }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AgentSnapshotItem {
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
pub(crate) struct BotHandoverItem {
    at: u64,
    is_fallback: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary_start: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details_seq: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    return_at: Option<u64>,
}

impl From<&BotHandover> for BotHandoverItem {
    fn from(handover: &BotHandover) -> Self {
        let BotHandover { at, is_fallback, reason, priority, summary_start, details_seq, return_at } = handover.clone();
        Self {
            at: at.0,
            is_fallback,
            reason: reason.map(|reason| reason.name().to_owned()),
            priority: priority.map(|priority| priority.name().to_owned()),
            summary_start,
            details_seq,
            return_at: return_at.map(|at| at.0),
        }
    }
}

impl From<BotHandoverItem> for BotHandover {
    fn from(item: BotHandoverItem) -> Self {
        let BotHandoverItem { at, is_fallback, reason, priority, summary_start, details_seq, return_at } = item;
        Self {
            at: Timestamp(at),
            is_fallback,
            reason: reason.as_deref().and_then(HandoverReason::parse),
            priority: priority.as_deref().and_then(HandoverPriority::parse),
            summary_start,
            details_seq,
            return_at: return_at.map(Timestamp),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SnoozeItem {
    until: u64,
    visitor_seq: u64,
}

impl From<Snooze> for SnoozeItem {
    fn from(Snooze { until, visitor_seq }: Snooze) -> Self {
        Self { until: until.0, visitor_seq }
    }
}

impl From<SnoozeItem> for Snooze {
    fn from(SnoozeItem { until, visitor_seq }: SnoozeItem) -> Self {
        Self { until: Timestamp(until), visitor_seq }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AgentOfferItem {
    agent_id: u64,
    until: u64,
}

impl From<AgentOffer> for AgentOfferItem {
    fn from(AgentOffer { agent_id, until }: AgentOffer) -> Self {
        Self { agent_id, until: until.0 }
    }
}

impl From<AgentOfferItem> for AgentOffer {
    fn from(AgentOfferItem { agent_id, until }: AgentOfferItem) -> Self {
        Self { agent_id, until: Timestamp(until) }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AnswerDueItem {
    asked_seq: u64,
    is_first: bool,
    at: u64,
    soon_at: u64,
    is_announced: bool,
}

impl From<AnswerDue> for AnswerDueItem {
    fn from(AnswerDue { asked_seq, is_first, at, soon_at, is_announced }: AnswerDue) -> Self {
        Self { asked_seq, is_first, at: at.0, soon_at: soon_at.0, is_announced }
    }
}

impl From<AnswerDueItem> for AnswerDue {
    fn from(AnswerDueItem { asked_seq, is_first, at, soon_at, is_announced }: AnswerDueItem) -> Self {
        Self { asked_seq, is_first, at: Timestamp(at), soon_at: Timestamp(soon_at), is_announced }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct FormerBotItem {
    bot_id: String,
    until_seq: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero_count(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<FormerBot> for FormerBotItem {
    fn from(FormerBot { bot_id, until_seq }: FormerBot) -> Self {
        Self { bot_id, until_seq }
    }
}

impl From<FormerBotItem> for FormerBot {
    fn from(FormerBotItem { bot_id, until_seq }: FormerBotItem) -> Self {
        Self { bot_id, until_seq }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ChatDepartmentItem {
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
pub(crate) struct MessagePreviewItem {
    from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<u64>,
    kind: String,
    text: String,
    at: u64,
}

impl From<&MessagePreview> for MessagePreviewItem {
    fn from(preview: &MessagePreview) -> Self {
        let MessagePreview { from, agent_id, kind, text, at } = preview.clone();
        Self { from, agent_id, kind, text, at: at.0 }
    }
}

impl From<MessagePreviewItem> for MessagePreview {
    fn from(item: MessagePreviewItem) -> Self {
        let MessagePreviewItem { from, agent_id, kind, text, at } = item;
        Self { from, agent_id, kind, text, at: Timestamp(at) }
    }
}
