//! The writes of the time limit for an agent's next answer.

use crate::domain::chats::answer_timer::{AnswerDue, AnswerResult};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::report::Counter;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::AnswerDueItem;
use crate::store::chats::report_counters::count_write;
use crate::store::chats::{Chats, entry_write, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, WriteResult, n, s};
use crate::store::to_attribute;

const IS_OWED: &str = "#answer_due.#asked_seq = :asked_seq";

impl Chats {
    /// Begins the time limit. Does nothing if one has begun already, or if no agent has the chat and it does not wait
    /// for one. The chat's next idle check is not later than the time at which the answer is due soon, so that the
    /// event is sent even if the task for it is lost. `idle_check` is when it takes place without the time limit.
    pub(crate) async fn start_answer_timer(
        &self,
        chat: &Chat,
        due: AnswerDue,
        idle_check: Timestamp,
    ) -> Result<(), Error> {
        let timed = Chat { answer_due: Some(due), ..chat.clone() };
        let next_check = timed.timer_due_at().map_or(idle_check, |due_at| due_at.min(idle_check));
        let update = ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update: "SET #answer_due = :due, #due_at = :next_check",
            condition: "attribute_exists(#pk) AND attribute_not_exists(#answer_due) AND #state <> :closed \
                        AND #state <> :bot",
            values: vec![
                (":due", to_attribute(&AnswerDueItem::from(due))?),
                (":next_check", n(next_check.0)),
                (":closed", s(ChatState::Closed(None).name())),
                (":bot", s(ChatState::Bot.name())),
            ],
        };
        self.table.update_if(update).await
    }

    /// Stores the events that announce that the answer is due soon, whose numbers `after` contains. Fails if the chat has
    /// got an entry since `before` was read, or if the visitor has got an answer.
    pub(crate) async fn announce_due_answer(
        &self,
        (before, after): (&Chat, &Chat),
        due: AnswerDue,
        events: &[TimelineEntry],
        now: Timestamp,
    ) -> Result<(), WriteError> {
        let header = ItemUpdate {
            key: header_key(&before.account_id, before.chat_id),
            update: "SET #answer_due.#is_announced = :true, #seq = :seq, #other_change_at = :now",
            condition: "#seq = :read_seq AND #state <> :closed AND #answer_due.#asked_seq = :asked_seq AND \
                        #answer_due.#is_announced = :false",
            values: vec![
                (":asked_seq", n(due.asked_seq)),
                (":true", to_attribute(&true)?),
                (":false", to_attribute(&false)?),
                (":seq", n(after.seq)),
                (":read_seq", n(before.seq)),
                (":closed", s(ChatState::Closed(None).name())),
                (":now", n(now.0)),
            ],
        };
        let events = events.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        self.transact([Write::Update(header)].into_iter().chain(events).collect()).await
    }

    /// Ends the time limit and counts the answer for the reports, if there is a result. Does nothing if it has ended
    /// already.
    pub(crate) async fn end_answer_timer(
        &self,
        chat: &Chat,
        due: AnswerDue,
        result: Option<AnswerResult>,
    ) -> Result<(), Error> {
        let header = ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update: "REMOVE #answer_due",
            condition: IS_OWED,
            values: vec![(":asked_seq", n(due.asked_seq))],
        };
        let counted = result.map(|result| count_write(chat, &[Counter::Answers(result)]));
        let writes = [Write::Update(header)].into_iter().chain(counted).collect();
        self.transact(writes).await.condition().map(|_| ())
    }
}
