//! The conditions by which an agent filters a list of chats. All of them follow from the header, which a list reads
//! anyway.

use crate::domain::chats::chat::Chat;
use crate::domain::timestamp::Timestamp;

/// Selects chats of a list. `None` does not restrict the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatFilter {
    pub tag_id: Option<u64>,
    pub channel_id: Option<String>,
    pub department_id: Option<u64>,
    /// Whether the visitor wrote the last message.
    pub unanswered: Option<bool>,
    pub snoozed: Option<bool>,
    /// Whether a note mentions the agent who lists the chats.
    pub mentioned: Option<bool>,
    /// Whether the answer of an agent is due soon or overdue.
    pub answer_due: Option<bool>,
}

impl ChatFilter {
    /// Whether the filter selects every chat.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the filter selects the chat for this agent.
    pub fn selects(&self, chat: &Chat, agent_id: u64, now: Timestamp) -> bool {
        let Self { tag_id, channel_id, department_id, unanswered, snoozed, mentioned, answer_due } = self;
        let is_due = || chat.owed_answer().is_some_and(|due| due.soon_at <= now);
        tag_id.is_none_or(|tag_id| chat.tag_ids.contains(&tag_id))
            && channel_id.as_ref().is_none_or(|channel_id| *channel_id == chat.channel_id)
            && department_id.is_none_or(|id| chat.department.as_ref().is_some_and(|it| it.department_id == id))
            && unanswered.is_none_or(|unanswered| unanswered == chat.is_unanswered())
            && snoozed.is_none_or(|snoozed| snoozed == chat.is_snoozed(now))
            && mentioned.is_none_or(|mentioned| mentioned == chat.mentions_agent(agent_id))
            && answer_due.is_none_or(|answer_due| answer_due == is_due())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chats::chat::{MessagePreview, Sender};
    use crate::domain::chats::chat_change::Snooze;
    use crate::domain::chats::mention::Mention;
    use crate::domain::chats::message_content::Content;
    use crate::wire::sample_data;

    #[test]
    fn chat_must_meet_every_condition_of_a_filter() {
        let snooze = Snooze { until: Timestamp(5_000), visitor_seq: 4 };
        let from_visitor = MessagePreview::of(&Content::text("Hello"), &Sender::Visitor, Timestamp(1_000));
        let chat = Chat {
            tag_ids: vec![2],
            last_message: Some(from_visitor),
            snooze: Some(snooze),
            mentions: vec![Mention { agent_id: 7, seq: 3 }],
            visitor_seq: 4,
            ..sample_data::chat(Timestamp(1_000))
        };
        let table = [
            (ChatFilter::default(), true),
            (ChatFilter { tag_id: Some(2), unanswered: Some(true), ..ChatFilter::default() }, true),
            (ChatFilter { tag_id: Some(1), unanswered: Some(true), ..ChatFilter::default() }, false),
            (ChatFilter { channel_id: Some("other".into()), ..ChatFilter::default() }, false),
            (ChatFilter { department_id: Some(77), ..ChatFilter::default() }, false),
            (ChatFilter { snoozed: Some(true), ..ChatFilter::default() }, true),
            (ChatFilter { snoozed: Some(false), ..ChatFilter::default() }, false),
            (ChatFilter { mentioned: Some(true), ..ChatFilter::default() }, true),
            (ChatFilter { mentioned: Some(false), ..ChatFilter::default() }, false),
        ];
        for (filter, expected) in table {
            assert_eq!(filter.selects(&chat, 7, Timestamp(2_000)), expected, "{filter:?}");
        }
    }
}
