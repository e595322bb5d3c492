//! The pushes to the visitors of widgets.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::accounts::agent::Agent;
use crate::domain::accounts::department::Department;
use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::wire::agent::LastSeq;
use crate::wire::fields::values::{Optional, ProtocolVersion, SequentialNumber};
use crate::wire::push::{TypingFrom, to_text, within_size_limit};
use crate::wire::sockets::socket_frame::{FrameType, frame_types};
use crate::wire::widget::{WidgetAgent, WidgetCall, WidgetChat, WidgetMessage, WidgetMode};

frame_types! {
    WidgetMessagePush = "message",
    WidgetCallPush = "call",
    WidgetChatPush = "chat",
    WidgetSeenPush = "seen",
    WidgetModePush = "mode",
    WidgetTypingPush = "typing",
    WidgetGrowingPush = "growing",
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetMessagePush {
    v: ProtocolVersion,
    r#type: FrameType<WidgetMessagePush>,
    chat_id: SequentialNumber,
    seq: SequentialNumber,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    message: Optional<WidgetMessage>,
}

/// Returns the frame that notifies a widget's visitor of a new message, or `None` if the entry is not visible to the
/// visitor.
pub(crate) fn message_frame_for_visitor(entry: &TimelineEntry) -> Option<String> {
    let push = WidgetMessagePush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(entry.chat_id),
        seq: SequentialNumber(entry.seq),
        message: Optional(Some(WidgetMessage::new(entry)?)),
    };
    Some(within_size_limit(push, |push| push.message = Optional(None)))
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetCallPush {
    v: ProtocolVersion,
    r#type: FrameType<WidgetCallPush>,
    chat_id: SequentialNumber,
    seq: SequentialNumber,
    call: WidgetCall,
}

/// Returns the frame that notifies a widget's visitor of the progress of a call, or `None` if the entry is not a call.
pub(crate) fn call_frame_for_visitor(entry: &TimelineEntry) -> Option<String> {
    Some(to_text(&WidgetCallPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(entry.chat_id),
        seq: SequentialNumber(entry.seq),
        call: WidgetCall::new(entry)?,
    }))
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetChatPush {
    v: ProtocolVersion,
    r#type: FrameType<WidgetChatPush>,
    chat_id: SequentialNumber,
    seq: LastSeq,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    chat: Optional<WidgetChat>,
}

/// Returns the frame that contains a chat's state and agent, for the widget's visitor.
pub(crate) fn chat_frame_for_visitor(chat: &Chat, agent_photo: Option<String>) -> String {
    let push = WidgetChatPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat.chat_id),
        seq: LastSeq(chat.seq),
        chat: Optional(Some(WidgetChat::new(chat, agent_photo))),
    };
    within_size_limit(push, |push| push.chat = Optional(None))
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetSeenPush {
    v: ProtocolVersion,
    r#type: FrameType<WidgetSeenPush>,
    chat_id: SequentialNumber,
    seq: SequentialNumber,
}

/// Returns the frame that tells a widget's visitor that the agent has seen the messages up to number `seq`.
pub(crate) fn seen_frame_for_visitor(chat: &Chat, seq: u64) -> String {
    to_text(&WidgetSeenPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat.chat_id),
        seq: SequentialNumber(seq),
    })
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetModePush {
    v: ProtocolVersion,
    r#type: FrameType<WidgetModePush>,
    mode: WidgetMode,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    agents: Optional<Vec<WidgetAgent>>,
}

/// Returns the frame that tells a widget's visitors whether agents are online. `agents` are some of them.
pub(crate) fn mode_frame(is_online: bool, agents: &[Agent], departments: &[Department]) -> String {
    let push = WidgetModePush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        mode: WidgetMode::new(is_online),
        agents: Optional(Some(WidgetAgent::list(agents, departments))),
    };
    within_size_limit(push, |push| push.agents = Optional(None))
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetTypingPush {
    v: ProtocolVersion,
    r#type: FrameType<WidgetTypingPush>,
    chat_id: SequentialNumber,
    seq: LastSeq,
    from: TypingFrom,
    typing: bool,
}

pub(crate) fn typing_frame_for_visitor(chat: &Chat, from: TypingFrom, is_typing: bool) -> String {
    to_text(&WidgetTypingPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat.chat_id),
        seq: LastSeq(chat.seq),
        from,
        typing: is_typing,
    })
}

/// The answer that the bot is still writing. It grows until the bot's message arrives, which replaces it.
#[derive(Serialize, JsonSchema)]
pub struct WidgetGrowingPush {
    v: ProtocolVersion,
    r#type: FrameType<WidgetGrowingPush>,
    chat_id: SequentialNumber,
    seq: LastSeq,
    /// The name of the bot.
    name: String,
    /// The whole text so far.
    growing: String,
}

pub(crate) fn growing_frame_for_visitor(chat: &Chat, name: &str, text: &str) -> String {
    to_text(&WidgetGrowingPush {
        v: ProtocolVersion,
        r#type: FrameType::default(),
        chat_id: SequentialNumber(chat.chat_id),
        seq: LastSeq(chat.seq),
        name: name.to_owned(),
        growing: text.to_owned(),
    })
}

/// Whether the visitor of a widget sees a difference between two states of a chat, apart from its messages.
pub(crate) fn is_chat_changed_for_visitor(before: &Chat, after: &Chat) -> bool {
    let shown = |chat: &Chat| WidgetChat::new(&Chat { seq: 0, ..chat.clone() }, None);
    after.channel_kind == ChannelKind::Widget && shown(before) != shown(after)
}
