//! Pushes: frames that notify the sockets of agents and visitors of changes. A push is only a hint: a client that
//! missed one reads the change over HTTP. All values have the same format as in the HTTP endpoints.

use serde_json::{Value, json};

use crate::domain::agent::{Agent, AgentSnapshot};
use crate::domain::agent_presence::AgentStatus;
use crate::domain::channel::ChannelKind;
use crate::domain::chat::Chat;
use crate::domain::chat_side_panel::Panel;
use crate::domain::delivery::DeliveryState;
use crate::domain::department::Department;
use crate::domain::link_filter::LinkFilter;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::Visitor;
use crate::wire::agent::{self, AgentPanel, ChatAgent, ChatRow, ChatVisitor};
use crate::wire::json_object::with_fields;
use crate::wire::socket_frame::frame;
use crate::wire::widget::{WidgetAgent, WidgetCall, WidgetChat, WidgetMessage, WidgetMode};

/// API Gateway's limit on the size of a WebSocket message.
const MAX_MESSAGE_BYTES: usize = 128 * 1024;

/// Returns the frame that notifies agents of a new or changed row in the list of chats.
pub(crate) fn chat_frame(chat: &Chat, safe_urls: &LinkFilter, now: Timestamp) -> String {
    chat_push("chat", chat, [("chat", json!(ChatRow::new(chat.clone(), safe_urls, now)))])
}

/// Returns the frame that notifies an agent who can no longer see the chat. `chat` is the header that the agent saw
/// last.
pub(crate) fn chat_gone_frame(chat: &Chat) -> String {
    chat_push("chat_gone", chat, [])
}

/// Returns the frame that notifies agents of a new entry.
pub(crate) fn message_frame(entry: TimelineEntry, safe_urls: &LinkFilter, now: Timestamp) -> String {
    entry_push("message", entry, safe_urls, now)
}

/// Returns the frame that notifies agents of a changed entry. The usual reason is an attempt to deliver the entry.
pub(crate) fn delivery_frame(entry: TimelineEntry, safe_urls: &LinkFilter, now: Timestamp) -> String {
    entry_push("delivery", entry, safe_urls, now)
}

/// Returns the frame that contains the chat's panel, which also shows data about the visitor.
pub(crate) fn panel_frame(chat: &Chat, panel: Panel, visitor: Option<Visitor>, safe_urls: &LinkFilter) -> String {
    chat_push("panel", chat, [("panel", json!(AgentPanel::new(panel, visitor, safe_urls)))])
}

/// Returns the frame that contains the chat's visitor. `panel` contains the invitation that the visitor accepted.
pub(crate) fn visitor_frame(chat: &Chat, visitor: Visitor, panel: Panel, safe_urls: &LinkFilter) -> String {
    let number = visitor.number;
    let visitor = json!(ChatVisitor::new(visitor, panel, safe_urls));
    chat_push("visitor", chat, [("visitor_number", json!(number)), ("visitor", visitor)])
}

/// Returns the frame that tells agents whether the visitor is typing. For the visitor of a widget, it contains the text
/// typed so far.
pub(crate) fn visitor_typing_frame(chat: &Chat, is_typing: bool, safe_urls: &LinkFilter) -> String {
    let (from, typing) = (("from", json!("visitor")), ("typing", json!(is_typing)));
    match chat.typing_text.as_deref().filter(|_| is_typing) {
        Some(text) => chat_push("typing", chat, [from, typing, ("text", json!(safe_urls.filter_text(text)))]),
        None => chat_push("typing", chat, [from, typing]),
    }
}

/// Returns the frame that notifies agents that a colleague who has the chat has started or stopped typing.
pub(crate) fn agent_typing_frame(chat: &Chat, agent: &AgentSnapshot, is_typing: bool) -> String {
    let fields =
        [("from", json!("agent")), ("agent", json!(ChatAgent::from(agent.clone()))), ("typing", json!(is_typing))];
    chat_push("typing", chat, fields)
}

/// Returns the frame that notifies a widget's visitor of a new message, or `None` if the entry is not visible to the
/// visitor.
pub(crate) fn message_frame_for_visitor(entry: &TimelineEntry) -> Option<String> {
    let message = json!(WidgetMessage::new(entry)?);
    let fields = [("chat_id", json!(entry.chat_id)), ("seq", json!(entry.seq)), ("message", message)];
    Some(within_size_limit(frame("message", fields)))
}

/// Returns the frame that notifies a widget's visitor of the progress of a call, or `None` if the entry is not a call.
pub(crate) fn call_frame_for_visitor(entry: &TimelineEntry) -> Option<String> {
    let fields =
        [("chat_id", json!(entry.chat_id)), ("seq", json!(entry.seq)), ("call", json!(WidgetCall::new(entry)?))];
    Some(frame("call", fields).to_string())
}

/// Returns the frame that contains a chat's state and agent, for the widget's visitor.
pub(crate) fn chat_frame_for_visitor(chat: &Chat, agent_photo: Option<String>) -> String {
    chat_push("chat", chat, [("chat", json!(WidgetChat::new(chat, agent_photo)))])
}

/// Returns the frame that tells a widget's visitor that the agent has seen the messages up to number `seq`.
pub(crate) fn seen_frame_for_visitor(chat: &Chat, seq: u64) -> String {
    frame("seen", [("chat_id", json!(chat.chat_id)), ("seq", json!(seq))]).to_string()
}

/// Returns the frame that tells a widget's visitors whether agents are online. `agents` are some of them.
pub(crate) fn mode_frame(is_online: bool, agents: &[Agent], departments: &[Department]) -> String {
    let agents = json!(WidgetAgent::list(agents, departments));
    let mode = json!(WidgetMode::new(is_online));
    within_size_limit(frame("mode", [("mode", mode), ("agents", agents)]))
}

pub(crate) fn agent_typing_frame_for_visitor(chat: &Chat, is_typing: bool) -> String {
    chat_push("typing", chat, [("from", json!("agent")), ("typing", json!(is_typing))])
}

/// Whether the visitor of a widget sees a difference between two states of a chat, apart from its messages.
pub(crate) fn is_chat_changed_for_visitor(before: &Chat, after: &Chat) -> bool {
    let shown = |chat: &Chat| WidgetChat::new(&Chat { seq: 0, ..chat.clone() }, None);
    after.channel_kind == ChannelKind::Widget && shown(before) != shown(after)
}

pub(crate) fn presence_frame(agent_id: u64, status: AgentStatus) -> String {
    frame("presence", [("agent_id", json!(agent_id)), ("status", json!(status.name()))]).to_string()
}

/// Returns the frame that notifies agents of a change to the account's settings, agents, departments, channels, canned
/// replies or other items in the Directory table.
pub(crate) fn settings_frame() -> String {
    frame("settings", []).to_string()
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

/// Whether agents see a difference between two states of an entry.
pub(crate) fn is_entry_changed(before: &TimelineEntry, after: &TimelineEntry, now: Timestamp) -> bool {
    let shown = |entry: &TimelineEntry| agent::TimelineEntry::new(entry.clone(), &LinkFilter::default(), now);
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

/// Returns a push about an entry. While a failed delivery is still shown as pending, `result_in_ms` is the time until
/// the failure is shown. At that time, nothing is written, so there is no further push; instead, the client reads the
/// entry again.
fn entry_push(kind: &str, entry: TimelineEntry, safe_urls: &LinkFilter, now: Timestamp) -> String {
    let failed = entry.delivery.as_ref().filter(|delivery| delivery.state == DeliveryState::Failed);
    let result_at = failed.and_then(|delivery| delivery.result_visible_at).filter(|at| *at > now);
    let (chat_id, seq) = (json!(entry.chat_id), json!(entry.seq));
    let message = json!(agent::TimelineEntry::new(entry, safe_urls, now));
    let push = frame(kind, [("chat_id", chat_id), ("seq", seq), ("message", message)]);
    within_size_limit(match result_at {
        Some(at) => {
            let wait = u64::try_from(at.since(now).as_millis()).unwrap_or(u64::MAX);
            with_fields(push, [("result_in_ms", json!(wait))])
        }
        None => push,
    })
}

/// In the push, `seq` is the number of the chat's last entry.
fn chat_push<const N: usize>(kind: &str, chat: &Chat, fields: [(&str, Value); N]) -> String {
    let push = frame(kind, [("chat_id", json!(chat.chat_id)), ("seq", json!(chat.seq))]);
    within_size_limit(with_fields(push, fields))
}

/// Returns the push as text. If it is too large for a frame, its JSON objects are left out, and the client reads them
/// over HTTP.
fn within_size_limit(mut push: Value) -> String {
    let text = push.to_string();
    if text.len() <= MAX_MESSAGE_BYTES {
        return text;
    }
    if let Some(fields) = push.as_object_mut() {
        fields.retain(|_, value| !value.is_object());
    }
    push.to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::chat::Sender;
    use crate::domain::delivery::{Delivery, Failure, Target};
    use crate::domain::message_content::Content;

    fn entry(text: &str, delivery: Option<Delivery>) -> TimelineEntry {
        TimelineEntry {
            account_id: "acc".into(),
            chat_id: 7,
            seq: 3,
            id: "id".into(),
            from: Sender::Visitor,
            content: Content::text(text),
            at: Timestamp(5_000),
            caused_by: None,
            webhook_dispatch: None,
            retain_until: None,
            delivery,
        }
    }

    fn message(entry: TimelineEntry, now: u64) -> Value {
        serde_json::from_str(&message_frame(entry, &LinkFilter::default(), Timestamp(now))).unwrap()
    }

    #[test]
    fn push_of_an_entry_contains_it_as_the_timeline_does() {
        let expected = json!({
            "v": 1, "type": "message", "chat_id": 7, "seq": 3,
            "message": agent::TimelineEntry::new(entry("hi", None), &LinkFilter::default(), Timestamp(0)),
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
