//! The pushes to agents.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::agent_presence::AgentStatus;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::Panel;
use crate::domain::chats::timeline_entry;
use crate::domain::deliveries::delivery::DeliveryState;
use crate::domain::list_change::ListChanges;
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::wire::agent::{AgentPanel, ChatAgent, ChatRow, ChatVisitor, LastSeq, TimelineEntry};
use crate::wire::fields::values::{Name, Optional, ProtocolVersion, SequentialNumber};
use crate::wire::push::{TypingFrom, to_text, within_size_limit};
use crate::wire::sockets::socket_frame::{FrameType, frame_types};

frame_types! {
    ChatRowPush = "chat",
    ChatGonePush = "chat_gone",
    ChangesPush = "changes",
    PanelPush = "panel",
    VisitorPush = "visitor",
    AgentTypingPush = "typing",
    ViewersPush = "viewers",
    PresencePush = "presence",
    SettingsPush = "settings",
}

/// A push about an entry. A push that would be too large has no message; the client then reads it over HTTP.
#[derive(Serialize, JsonSchema)]
pub struct EntryPush {
    v: ProtocolVersion,
    r#type: EntryPushType,
    chat_id: SequentialNumber,
    seq: SequentialNumber,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    message: Optional<TimelineEntry>,
    /// In how many milliseconds the entry shows that its delivery has failed. At that time, nothing is written, so
    /// there is no further push; instead, the client reads the entry again.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    result_in_ms: Optional<u64>,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryPushType {
    /// The entry is new.
    Message,
    /// The entry has changed, because of an attempt to deliver it, a receipt, an edit, its deletion, or a new status
    /// of a call.
    Delivery,
}

impl EntryPush {
    fn text(
        r#type: EntryPushType,
        entry: timeline_entry::TimelineEntry,
        safe_urls: &LinkFilter,
        now: Timestamp,
    ) -> String {
        let failed = entry.delivery.as_ref().filter(|delivery| delivery.state == DeliveryState::Failed);
        let result_at = failed.and_then(|delivery| delivery.result_visible_at).filter(|at| *at > now);
        let wait = |at: Timestamp| u64::try_from(at.since(now).as_millis()).unwrap_or(u64::MAX);
        let push = Self {
            v: ProtocolVersion,
            r#type,
            chat_id: SequentialNumber(entry.chat_id),
            seq: SequentialNumber(entry.seq),
            message: Optional(Some(TimelineEntry::new(entry, safe_urls, now))),
            result_in_ms: Optional(result_at.map(wait)),
        };
        within_size_limit(push, |push| push.message = Optional(None))
    }
}

/// Returns the frame that notifies agents of a new entry.
pub(crate) fn message_frame(entry: timeline_entry::TimelineEntry, safe_urls: &LinkFilter, now: Timestamp) -> String {
    EntryPush::text(EntryPushType::Message, entry, safe_urls, now)
}

/// Returns the frame that notifies agents of a changed entry. The usual reason is an attempt to deliver the entry.
pub(crate) fn delivery_frame(entry: timeline_entry::TimelineEntry, safe_urls: &LinkFilter, now: Timestamp) -> String {
    EntryPush::text(EntryPushType::Delivery, entry, safe_urls, now)
}

#[derive(Serialize, JsonSchema)]
pub struct ChatRowPush {
    v: ProtocolVersion,
    r#type: FrameType<ChatRowPush>,
    chat_id: SequentialNumber,
    seq: LastSeq,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    chat: Optional<ChatRow>,
}

/// Returns the frame that notifies agents of a new or changed row in the list of chats.
pub(crate) fn chat_frame(chat: &Chat, safe_urls: &LinkFilter, now: Timestamp) -> String {
    let push = ChatRowPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat.chat_id),
        seq: LastSeq(chat.seq),
        chat: Optional(Some(ChatRow::new(chat.clone(), safe_urls, now))),
    };
    within_size_limit(push, |push| push.chat = Optional(None))
}

#[derive(Serialize, JsonSchema)]
pub struct ChatGonePush {
    v: ProtocolVersion,
    r#type: FrameType<ChatGonePush>,
    chat_id: SequentialNumber,
    seq: LastSeq,
}

/// Returns the frame that notifies an agent who can no longer see the chat. `chat` is the header that the agent saw
/// last.
pub(crate) fn chat_gone_frame(chat: &Chat) -> String {
    to_text(&ChatGonePush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat.chat_id),
        seq: LastSeq(chat.seq),
    })
}

/// What has changed in the lists of a subscriber. A push that would be too large has no lists; the client then reads the
/// changes over HTTP.
#[derive(Serialize, JsonSchema)]
pub struct ChangesPush {
    v: ProtocolVersion,
    r#type: FrameType<ChangesPush>,
    /// The current rows of the chats that have changed.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    chats: Optional<Vec<ChatRow>>,
    /// The numbers of changed chats that the agent cannot see, and of erased chats.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    gone: Optional<Vec<SequentialNumber>>,
    /// The visitors' new messages in these chats.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    visitor_messages: Optional<Vec<EntryPosition>>,
}

/// The position of an entry.
#[derive(Serialize, JsonSchema)]
pub struct EntryPosition {
    chat_id: SequentialNumber,
    seq: SequentialNumber,
}

/// Returns the frame with what has changed in the lists of a subscriber.
pub(crate) fn changes_frame(
    chats: Vec<Chat>,
    gone: &BTreeSet<u64>,
    changes: &ListChanges,
    safe_urls: &LinkFilter,
    now: Timestamp,
) -> String {
    let in_chat = |chat: &Chat| changes.0.get(&chat.chat_id).map(|change| (chat.chat_id, &change.visitor_messages));
    let positions = chats.iter().filter_map(in_chat).flat_map(|(chat_id, seqs)| {
        let chat_id = SequentialNumber(chat_id);
        seqs.iter().map(move |seq| EntryPosition { chat_id, seq: SequentialNumber(*seq) })
    });
    let push = ChangesPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        visitor_messages: Optional(Some(positions.collect())),
        chats: Optional(Some(ChatRow::list(chats, safe_urls, now))),
        gone: Optional(Some(gone.iter().copied().map(SequentialNumber).collect())),
    };
    within_size_limit(push, |push| {
        push.chats = Optional(None);
        push.gone = Optional(None);
        push.visitor_messages = Optional(None);
    })
}

#[derive(Serialize, JsonSchema)]
pub struct PanelPush {
    v: ProtocolVersion,
    r#type: FrameType<PanelPush>,
    chat_id: SequentialNumber,
    seq: LastSeq,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    panel: Optional<AgentPanel>,
}

/// Returns the frame that contains the chat's panel, which also shows data about the visitor.
pub(crate) fn panel_frame(chat: &Chat, panel: Panel, visitor: Option<Visitor>, safe_urls: &LinkFilter) -> String {
    let push = PanelPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat.chat_id),
        seq: LastSeq(chat.seq),
        panel: Optional(Some(AgentPanel::new(panel, visitor, safe_urls))),
    };
    within_size_limit(push, |push| push.panel = Optional(None))
}

#[derive(Serialize, JsonSchema)]
pub struct VisitorPush {
    v: ProtocolVersion,
    r#type: FrameType<VisitorPush>,
    chat_id: SequentialNumber,
    seq: LastSeq,
    visitor_number: SequentialNumber,
    /// The visitor as in GET /agent/chats/{chat_id}.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    visitor: Optional<ChatVisitor>,
}

/// Returns the frame that contains the chat's visitor. `panel` contains the invitation that the visitor accepted.
pub(crate) fn visitor_frame(chat: &Chat, visitor: Visitor, panel: Panel, safe_urls: &LinkFilter) -> String {
    let push = VisitorPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat.chat_id),
        seq: LastSeq(chat.seq),
        visitor_number: SequentialNumber(visitor.number),
        visitor: Optional(Some(ChatVisitor::new(visitor, panel, safe_urls))),
    };
    within_size_limit(push, |push| push.visitor = Optional(None))
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TypingPush")]
pub struct AgentTypingPush {
    v: ProtocolVersion,
    r#type: FrameType<AgentTypingPush>,
    chat_id: SequentialNumber,
    seq: LastSeq,
    from: TypingFrom,
    typing: bool,
    /// What the visitor of a widget has typed so far, if known.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    text: Optional<String>,
    /// The colleague who is typing.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    agent: Optional<ChatAgent>,
}

impl AgentTypingPush {
    fn new(chat: &Chat, from: TypingFrom, is_typing: bool) -> Self {
        Self {
            v: ProtocolVersion,
            r#type: FrameType::default(),
            chat_id: SequentialNumber(chat.chat_id),
            seq: LastSeq(chat.seq),
            from,
            typing: is_typing,
            text: Optional(None),
            agent: Optional(None),
        }
    }
}

/// Returns the frame that tells agents whether the visitor is typing. For the visitor of a widget, it contains the text
/// typed so far.
pub(crate) fn visitor_typing_frame(chat: &Chat, is_typing: bool, safe_urls: &LinkFilter) -> String {
    let text = chat.typing_text.as_deref().filter(|_| is_typing).map(|text| safe_urls.filter_text(text));
    to_text(&AgentTypingPush { text: Optional(text), ..AgentTypingPush::new(chat, TypingFrom::Visitor, is_typing) })
}

/// Returns the frame that notifies agents that a colleague who has the chat has started or stopped typing.
pub(crate) fn agent_typing_frame(chat: &Chat, agent: &AgentSnapshot, is_typing: bool) -> String {
    let agent = Optional(Some(ChatAgent::from(agent.clone())));
    to_text(&AgentTypingPush { agent, ..AgentTypingPush::new(chat, TypingFrom::Agent, is_typing) })
}

/// Which agents have a chat open.
#[derive(Serialize, JsonSchema)]
pub struct ViewersPush {
    v: ProtocolVersion,
    r#type: FrameType<ViewersPush>,
    chat_id: SequentialNumber,
    /// The agents whose clients show the chat, with the agent who gets the frame.
    agent_ids: Vec<SequentialNumber>,
}

pub(crate) fn viewers_frame(chat_id: u64, agent_ids: &BTreeSet<u64>) -> String {
    to_text(&ViewersPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat_id),
        agent_ids: agent_ids.iter().copied().map(SequentialNumber).collect(),
    })
}

#[derive(Serialize, JsonSchema)]
pub struct PresencePush {
    v: ProtocolVersion,
    r#type: FrameType<PresencePush>,
    agent_id: SequentialNumber,
    status: Name<AgentStatus>,
}

pub(crate) fn presence_frame(agent_id: u64, status: AgentStatus) -> String {
    to_text(&PresencePush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        agent_id: SequentialNumber(agent_id),
        status: Name(status),
    })
}

#[derive(Default, Serialize, JsonSchema)]
pub struct SettingsPush {
    v: ProtocolVersion,
    r#type: FrameType<SettingsPush>,
}

/// Returns the frame that notifies agents of a change to the account's settings, agents, departments, channels, canned
/// replies or other items in the Directory table.
pub(crate) fn settings_frame() -> String {
    to_text(&SettingsPush::default())
}

/// Whether agents see a difference between two states of a chat, apart from its last message. A new message is reported
/// with its entry.
pub(crate) fn is_row_changed(before: &Chat, after: &Chat) -> bool {
    let row = |chat: &Chat| {
        let chat = Chat { last_message: None, updated_at: Timestamp(0), seq: 0, ..chat.clone() };
        ChatRow::new(chat, &LinkFilter::default(), Timestamp(0))
    };
    row(before) != row(after)
}

/// Whether the preview of a chat's last message has changed without a new message, because it was edited or
/// deleted.
pub(crate) fn is_preview_edited(before: &Chat, after: &Chat) -> bool {
    before.seq == after.seq && before.last_message != after.last_message
}

/// Whether agents see a difference between two states of an entry.
pub(crate) fn is_entry_changed(
    before: &timeline_entry::TimelineEntry,
    after: &timeline_entry::TimelineEntry,
    now: Timestamp,
) -> bool {
    let shown = |entry: &timeline_entry::TimelineEntry| TimelineEntry::new(entry.clone(), &LinkFilter::default(), now);
    shown(before) != shown(after)
}

/// Whether agents see a difference between two states of a visitor.
pub(crate) fn is_visitor_changed(before: &Visitor, after: &Visitor) -> bool {
    let shown = |visitor: &Visitor| ChatVisitor::new(visitor.clone(), Panel::default(), &LinkFilter::default());
    shown(before) != shown(after) || is_custom_data_changed(before, after)
}

/// Whether agents see a difference in the data that a script on the visitor's page has set, or in the visitor's
/// answers.
pub(crate) fn is_custom_data_changed(before: &Visitor, after: &Visitor) -> bool {
    let lines = |visitor: &Visitor| {
        visitor.widget.as_deref().map(|widget| (widget.custom_data.clone(), widget.answers.clone()))
    };
    lines(before) != lines(after)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::chats::chat::Sender;
    use crate::domain::chats::message_content::Content;
    use crate::domain::chats::message_receipt::ReceiptTimes;
    use crate::domain::deliveries::delivery::{Delivery, Failure, Target};
    use crate::wire::push::MAX_MESSAGE_BYTES;

    fn entry(text: &str, delivery: Option<Delivery>) -> timeline_entry::TimelineEntry {
        timeline_entry::TimelineEntry {
            account_id: "acc".into(),
            chat_id: 7,
            seq: 3,
            id: "id".into(),
            from: Sender::Visitor,
            content: Content::text(text),
            at: Timestamp(5_000),
            caused_by: None,
            webhook_dispatch: None,
            receipt: ReceiptTimes::default(),
            edited_at: None,
            deleted_at: None,
            retain_until: None,
            delivery,
        }
    }

    fn message(entry: timeline_entry::TimelineEntry, now: u64) -> Value {
        serde_json::from_str(&message_frame(entry, &LinkFilter::default(), Timestamp(now))).unwrap()
    }

    #[test]
    fn push_of_an_entry_contains_it_as_the_timeline_does() {
        let expected = json!({
            "v": 1, "type": "message", "chat_id": 7, "seq": 3,
            "message": TimelineEntry::new(entry("hi", None), &LinkFilter::default(), Timestamp(0)),
        });
        assert_eq!(message(entry("hi", None), 0), expected);
    }

    #[test]
    fn push_that_is_too_large_has_no_body() {
        let large = entry(&"x".repeat(MAX_MESSAGE_BYTES), None);
        assert_eq!(message(large, 0), json!({ "v": 1, "type": "message", "chat_id": 7, "seq": 3 }));
        let escaped = entry(&"\u{1}".repeat(MAX_MESSAGE_BYTES / 6), None);
        assert_eq!(message(escaped, 0).get("message"), None, "the size of the JSON text counts");
    }

    #[test]
    fn hidden_failure_is_announced_with_its_time() {
        let failure = Failure { code: None, message: "HTTP 500".into(), hidden: false };
        let failed = Delivery {
            state: DeliveryState::Failed,
            failure: Some(failure),
            result_visible_at: Some(Timestamp(9_000)),
            ..Delivery::new(Target::Channel, Timestamp(0))
        };
        let state = |push: &Value| push.pointer("/message/delivery/state").cloned();
        let early = message(entry("hi", Some(failed.clone())), 6_400);
        assert_eq!((state(&early), early.get("result_in_ms")), (Some(json!("pending")), Some(&json!(2_600))));
        let late = message(entry("hi", Some(failed)), 9_000);
        assert_eq!((state(&late), late.get("result_in_ms")), (Some(json!("failed")), None));
    }
}
