//! Pushes: frames that notify the sockets of agents and visitors of changes. A push is only a hint: a client that
//! missed one reads the change over HTTP. All values have the same format as in the HTTP endpoints.
//!
//! # Layout
//! - `agent.rs`: the pushes to agents
//! - `visitor.rs`: the pushes to the visitors of widgets

mod agent;
pub(crate) mod notification;
mod visitor;

pub use agent::{
    AgentTypingPush, ChangesPush, ChatGonePush, ChatRowPush, EntryPush, PanelPush, PresencePush, SettingsPush,
    ViewersPush, VisitorPush,
};
pub(crate) use agent::{
    agent_typing_frame, changes_frame, chat_frame, chat_gone_frame, delivery_frame, is_custom_data_changed,
    is_entry_changed, is_preview_edited, is_row_changed, is_visitor_changed, message_frame, panel_frame,
    presence_frame, settings_frame, viewers_frame, visitor_frame, visitor_typing_frame,
};
pub use visitor::{
    WidgetCallPush, WidgetChatPush, WidgetGrowingPush, WidgetMessagePush, WidgetModePush, WidgetSeenPush,
    WidgetTypingPush,
};
pub(crate) use visitor::{
    call_frame_for_visitor, chat_frame_for_visitor, growing_frame_for_visitor, is_chat_changed_for_visitor,
    message_frame_for_visitor, mode_frame, seen_frame_for_visitor, typing_frame_for_visitor,
};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// API Gateway's limit on the size of a WebSocket message.
const MAX_MESSAGE_BYTES: usize = 128 * 1024;

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TypingFrom {
    Visitor,
    Agent,
    Bot,
}

fn to_text(push: &impl Serialize) -> String {
    json!(push).to_string()
}

/// Returns the push as text. If it is too large for a frame, `remove_body` removes what the client then reads over
/// HTTP.
fn within_size_limit<P: Serialize>(mut push: P, remove_body: fn(&mut P)) -> String {
    let text = to_text(&push);
    if text.len() <= MAX_MESSAGE_BYTES {
        return text;
    }
    remove_body(&mut push);
    to_text(&push)
}
