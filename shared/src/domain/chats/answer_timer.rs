//! The time limit of an agent's next answer to a visitor: when it begins, when the answer is due soon, and how it ends.
//!
//! The timers follow from the changes of headers, which the table's stream reports. Therefore messages and accepted
//! chats cost nothing more, and accounts without time limits pay nothing.

use std::time::Duration;

use crate::domain::business_hours::BusinessHours;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

/// An answer is due soon when three quarters of the time limit are over, but at most this long before it ends.
const MAX_LEAD: Duration = Duration::from_secs(5 * 60);

/// The answer that the visitor of a chat waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerDue {
    /// The number of the visitor's message with which the time limit began.
    pub asked_seq: u64,
    pub is_first: bool,
    pub at: Timestamp,
    /// When webhooks get the event answer_due_soon.
    pub soon_at: Timestamp,
    /// Whether they have got it.
    pub is_announced: bool,
}

named! {
    pub enum AnswerResult {
        InTime = "in_time",
        Late = "late",
    }
}

/// What a change of a header means for the time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerStep {
    /// The visitor waits for an answer from now on, unless the visitor waits for an earlier one.
    Asked { seq: u64, at: Timestamp, is_first: bool },
    /// An agent has answered everything before this entry.
    Answered { seq: u64, at: Timestamp },
    /// The agents have no longer to answer: the chat was closed or given to a bot.
    Ended { at: Timestamp },
}

impl AnswerDue {
    /// Returns `None` if the answer is not due within a year, because it is never open.
    pub fn new(
        (asked_seq, asked_at): (u64, Timestamp),
        is_first: bool,
        limit: Duration,
        hours: Option<&BusinessHours>,
    ) -> Option<Self> {
        let after = |time: Duration| hours.map_or(Some(asked_at.plus(time)), |it| it.add_open_time(asked_at, time));
        let lead = (limit / 4).min(MAX_LEAD);
        let (at, soon_at) = (after(limit)?, after(limit.saturating_sub(lead))?);
        Some(Self { asked_seq, is_first, at, soon_at, is_announced: false })
    }

    pub fn result(&self, answered_at: Timestamp) -> AnswerResult {
        if answered_at <= self.at { AnswerResult::InTime } else { AnswerResult::Late }
    }
}

impl AnswerStep {
    pub fn of(before: Option<&Chat>, after: &Chat) -> Option<Self> {
        let was_with_agents = before.is_some_and(is_with_agents);
        if !is_with_agents(after) {
            let ends = was_with_agents && after.answer_due.is_some();
            return ends.then_some(Self::Ended { at: after.updated_at });
        }
        if let Some(at) = new_answer(before, after) {
            let is_expected = after.answer_due.is_some() || before.is_some_and(Chat::is_unanswered);
            return is_expected.then_some(Self::Answered { seq: after.seq, at });
        }
        let has_asked = after.visitor_seq > before.map_or(0, |before| before.visitor_seq);
        let asks = after.answer_due.is_none() && (has_asked || !was_with_agents);
        let (seq, is_first) = (after.visitor_seq, after.first_answer_at.is_none());
        asks.then_some(Self::Asked { seq, at: after.updated_at, is_first })
    }
}

impl Chat {
    /// Returns the answer that agents owe the visitor. `None` if there is no time limit.
    pub fn owed_answer(&self) -> Option<AnswerDue> {
        self.answer_due.filter(|_| is_with_agents(self))
    }
}

fn is_with_agents(chat: &Chat) -> bool {
    match chat.state {
        ChatState::Waiting | ChatState::Offered(_) | ChatState::Active(_) => true,
        ChatState::Bot | ChatState::Closed(_) => false,
    }
}

/// Returns the time of an agent's message that is new.
fn new_answer(before: Option<&Chat>, after: &Chat) -> Option<Timestamp> {
    let last = after.last_message.as_ref()?;
    let is_new = before.is_none_or(|before| before.last_message != after.last_message);
    last.agent_id.filter(|_| is_new).map(|_| last.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::accounts::agent::AgentSnapshot;
    use crate::domain::business_hours::hours_in;
    use crate::domain::chats::chat::{MessagePreview, Sender};
    use crate::domain::chats::message_content::Content;
    use crate::wire::sample_data;

    fn agent() -> AgentSnapshot {
        AgentSnapshot { agent_id: 1, name: "Ann".into(), photo: None }
    }

    /// A chat whose last message has this sender and time; the visitor's last message is `visitor_seq`.
    fn chat(state: ChatState, from: &Sender, at: u64, visitor_seq: u64) -> Chat {
        let last_message = Some(MessagePreview::of(&Content::text("text"), from, Timestamp(at)));
        let updated_at = Timestamp(at);
        Chat { state, last_message, visitor_seq, seq: at, updated_at, ..sample_data::chat(Timestamp(0)) }
    }

    #[test]
    fn changes_of_the_header_begin_and_end_the_time_limit() {
        let (visitor, ann, active) = (Sender::Visitor, Sender::Agent(agent()), || ChatState::Active(agent()));
        let due = AnswerDue::new((1, Timestamp(1)), true, Duration::from_secs(60), None);
        let waiting = chat(ChatState::Waiting, &visitor, 1, 1);
        let with_timer = Chat { answer_due: due, ..waiting.clone() };
        let accepted = Chat { state: active(), answer_due: due, ..waiting.clone() };
        let answered = Chat { answer_due: due, ..chat(active(), &ann, 5, 1) };
        let quiet = Chat { answer_due: None, first_answer_at: Some(Timestamp(5)), ..answered.clone() };
        let asked_again = Chat { first_answer_at: Some(Timestamp(5)), ..chat(active(), &visitor, 7, 7) };
        let with_bot = chat(ChatState::Bot, &visitor, 1, 1);
        let closed =
            Chat { state: ChatState::Closed(None), answer_due: due, updated_at: Timestamp(9), ..waiting.clone() };
        let asked = |seq, at, is_first| Some(AnswerStep::Asked { seq, at: Timestamp(at), is_first });
        let table = [
            ("a new chat", None, &waiting, asked(1, 1, true)),
            ("a handover", Some(&with_bot), &waiting, asked(1, 1, true)),
            ("another message", Some(&with_timer), &Chat { visitor_seq: 2, ..with_timer.clone() }, None),
            ("accepted", Some(&with_timer), &accepted, None),
            ("answered", Some(&accepted), &answered, Some(AnswerStep::Answered { seq: 5, at: Timestamp(5) })),
            ("another answer", Some(&quiet), &Chat { seq: 6, ..chat(active(), &ann, 6, 1) }, None),
            ("the next question", Some(&quiet), &asked_again, asked(7, 7, false)),
            ("closed", Some(&with_timer), &closed, Some(AnswerStep::Ended { at: Timestamp(9) })),
            ("closed before", Some(&closed), &closed, None),
            ("with a bot", None, &with_bot, None),
        ];
        for (name, before, after, expected) in table {
            assert_eq!(AnswerStep::of(before, after), expected, "{name}");
        }
        assert_eq!((with_timer.owed_answer(), closed.owed_answer()), (due, None));
    }

    #[test]
    fn limit_runs_within_the_business_hours() {
        let due = |limit, hours| AnswerDue::new((1, Timestamp(0)), true, Duration::from_secs(limit), hours);
        let times = |due: Option<AnswerDue>| due.map(|due| (due.soon_at.0 / 1_000, due.at.0 / 1_000));
        assert_eq!(times(due(60, None)), Some((45, 60)));
        assert_eq!(times(due(7_200, None)), Some((6_900, 7_200)));
        // 1 January 1970 was a Thursday. It is open from 00:01.
        let hours = hours_in("UTC", [&[], &[], &[], &[(1, 600)], &[], &[], &[]], Vec::new());
        assert_eq!(times(due(60, Some(&hours))), Some((105, 120)));
        assert_eq!(times(due(60, Some(&hours_in("UTC", [&[]; 7], Vec::new())))), None);
    }

    #[test]
    fn answer_at_the_end_of_the_limit_is_in_time() {
        let due = AnswerDue::new((1, Timestamp(0)), true, Duration::from_secs(60), None).unwrap();
        let results = [59_999, 60_000, 60_001].map(|at| due.result(Timestamp(at)));
        assert_eq!(results, [AnswerResult::InTime, AnswerResult::InTime, AnswerResult::Late]);
    }
}
