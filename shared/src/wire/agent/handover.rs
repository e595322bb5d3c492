//! The handover of a chat from its bot to the agents, as agents see it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::domain::chats::bot_handover::{BotHandover, HandoverDetails, HandoverPriority, HandoverReason};
use crate::domain::text::link_filter::LinkFilter;
use crate::wire::fields::values::{AnyObject, Name, UnixSeconds};

/// How the bot handed over the chat, in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HandoverRow {
    at: UnixSeconds,
    /// Whether the bot failed or did not answer in time. If false, the bot invited the agents.
    is_fallback: bool,
    reason: Option<Name<HandoverReason>>,
    priority: Option<Name<HandoverPriority>>,
    /// The first 200 characters of the bot's summary, which is Markdown. Longer if a blocked link was replaced.
    summary: Option<String>,
}

/// How the bot handed over the chat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Handover {
    at: UnixSeconds,
    /// Whether the bot failed or did not answer in time. If false, the bot invited the agents.
    is_fallback: bool,
    reason: Option<Name<HandoverReason>>,
    priority: Option<Name<HandoverPriority>>,
    /// The bot's summary in Markdown.
    summary: Option<String>,
    /// Any data from the bot.
    data: Option<AnyObject>,
}

/// What the bot told the agents, beside the summary.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HandoverContext {
    reason: Option<Name<HandoverReason>>,
    priority: Option<Name<HandoverPriority>>,
    /// Any data from the bot.
    data: Option<AnyObject>,
}

impl From<BotHandover> for HandoverRow {
    fn from(handover: BotHandover) -> Self {
        let BotHandover { at, is_fallback, reason, priority, summary_start, .. } = handover;
        let (reason, priority) = (reason.map(Name), priority.map(Name));
        Self { at: at.into(), is_fallback, reason, priority, summary: summary_start }
    }
}

impl Handover {
    /// `details` is the content of the entry with the details. If it is missing, the chat's header has the beginning of
    /// the summary. Links that Safe URL (the link filter) blocks are replaced.
    pub fn new(handover: &BotHandover, details: Option<&HandoverDetails>, safe_urls: &LinkFilter) -> Self {
        let summary = details.and_then(|details| details.summary.as_deref()).or(handover.summary_start.as_deref());
        Self {
            at: handover.at.into(),
            is_fallback: handover.is_fallback,
            reason: handover.reason.map(Name),
            priority: handover.priority.map(Name),
            summary: summary.map(|summary| safe_urls.filter_text(summary)),
            data: details.and_then(|details| filtered_data(details, safe_urls)),
        }
    }
}

impl HandoverContext {
    pub(super) fn new(details: &HandoverDetails, safe_urls: &LinkFilter) -> Self {
        let HandoverDetails { reason, priority, .. } = *details;
        Self { reason: reason.map(Name), priority: priority.map(Name), data: filtered_data(details, safe_urls) }
    }
}

/// Parses the data. Blocked links in its texts are replaced.
fn filtered_data(details: &HandoverDetails, safe_urls: &LinkFilter) -> Option<AnyObject> {
    let mut data: Value = serde_json::from_str(details.data.as_deref()?).ok()?;
    filter_texts(&mut data, safe_urls);
    if let Value::Object(fields) = data { Some(AnyObject(fields)) } else { None }
}

fn filter_texts(value: &mut Value, safe_urls: &LinkFilter) {
    match value {
        Value::String(text) => *text = safe_urls.filter_text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| filter_texts(item, safe_urls)),
        Value::Object(fields) => fields.values_mut().for_each(|field| filter_texts(field, safe_urls)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::domain::timestamp::Timestamp;

    #[test]
    fn blocked_links_are_replaced_in_summary_and_data() {
        let details = HandoverDetails {
            reason: Some(HandoverReason::Other),
            priority: None,
            summary: Some("See https://evil.example/x".into()),
            data: Some(r#"{"links": ["https://evil.example/x"], "order": 7}"#.into()),
        };
        let handover = BotHandover::invitation(&details, Some(2), Timestamp(5_000));
        let seen = Handover::new(&handover, Some(&details), &LinkFilter(vec!["shop.example".into()]));
        let expected = json!({
            "at": 5, "is_fallback": false, "reason": "other", "priority": null, "summary": "See [link blocked]",
            "data": {"links": ["[link blocked]"], "order": 7},
        });
        assert_eq!(serde_json::to_value(seen).unwrap(), expected);
    }
}
