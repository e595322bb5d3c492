//! The activity of a bot in a period: events sent, answers, failures and handovers.

use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{DeliveryState, Target};
use crate::domain::timestamp::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotActivity {
    pub since: Timestamp,
    pub events: u64,
    /// The number of events that the bot accepted or reacted to.
    pub answered: u64,
    /// The number of events that the bot did not accept in any attempt.
    pub failed: u64,
    /// The duration, in milliseconds, of the slowest attempt that got a response. `None` if there was no response.
    pub slowest_ms: Option<u64>,
    /// How long each answer took, in milliseconds, from the visitor's last message to the bot's message.
    pub answer_ms: Vec<u64>,
    /// The number of answers that were refused because the visitor had written since, in chats that changed in the
    /// period.
    pub superseded: u64,
    /// The number of chats that went to the agents because the bot invited them, or because the visitor asked for one.
    pub handed_over: u64,
    /// The number of chats that were handed over because the bot failed or did not answer in time.
    pub fallbacks: u64,
    /// Whether all chats and events of the period were examined. If false, the numbers may be too low.
    pub is_complete: bool,
}

impl BotActivity {
    pub fn new(since: Timestamp) -> Self {
        Self {
            since,
            events: 0,
            answered: 0,
            failed: 0,
            slowest_ms: None,
            answer_ms: Vec::new(),
            superseded: 0,
            handed_over: 0,
            fallbacks: 0,
            is_complete: true,
        }
    }

    /// Counts the refused answers of a chat, and its handover if it happened in the period.
    pub fn add_chat(&mut self, chat: &Chat) {
        self.superseded += chat.bot_answers.superseded;
        match chat.handover.as_ref().filter(|handover| handover.at >= self.since) {
            Some(handover) if handover.is_fallback => self.fallbacks += 1,
            Some(_) => self.handed_over += 1,
            None => {}
        }
    }

    /// Measures the answers in a timeline, oldest entry first, without the entries of the chat's other bots. The bot's
    /// further messages are not answers.
    pub fn add_answers(&mut self, entries: &[TimelineEntry], is_of_bot: impl Fn(&TimelineEntry) -> bool) {
        let mut asked_at = None;
        for entry in entries.iter().filter(|entry| is_of_bot(entry)) {
            match entry.from {
                Sender::Visitor if entry.is_for_bot() => asked_at = Some(entry.at),
                Sender::Bot(_) => {
                    let asked_at = asked_at.take().filter(|_| entry.at >= self.since);
                    self.answer_ms.extend(asked_at.map(|asked_at| entry.at.0.saturating_sub(asked_at.0)));
                }
                Sender::Agent(_) => asked_at = None,
                Sender::Visitor | Sender::System => {}
            }
        }
    }

    /// Returns the median of the times of the answers, or `None` if there was no answer.
    pub fn median_answer_ms(&self) -> Option<u64> {
        let mut times = self.answer_ms.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }

    /// Counts the event of an entry. Ignores entries that are for another kind of receiver, that are older than the
    /// period, or that have not been sent.
    pub fn add_entry(&mut self, entry: &TimelineEntry, now: Timestamp) {
        let Some(delivery) = entry.delivery.as_ref().filter(|it| it.target == Target::Bot && entry.at >= self.since)
        else {
            return;
        };
        let state = delivery.visible_state(now);
        if delivery.attempts.is_empty() && state != DeliveryState::Delivered {
            return;
        }
        self.events += 1;
        match state {
            DeliveryState::Delivered => self.answered += 1,
            DeliveryState::Failed => self.failed += 1,
            DeliveryState::Pending | DeliveryState::Superseded => {}
        }
        let responses = delivery.attempts.iter().filter(|attempt| attempt.status.is_some());
        let slowest_ms = responses.map(|attempt| attempt.duration_ms).max();
        self.slowest_ms = self.slowest_ms.max(slowest_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::accounts::agent::AgentSnapshot;
    use crate::domain::chats::message_content::Content;
    use crate::domain::chats::message_receipt::ReceiptTimes;
    use crate::domain::deliveries::delivery::{Attempt, Delivery};

    fn event(at: u64, target: Target, state: DeliveryState, attempts: &[(Option<u16>, u64)]) -> TimelineEntry {
        let attempt = |(status, duration_ms): &(Option<u16>, u64)| Attempt {
            at: Timestamp(at),
            status: *status,
            duration_ms: *duration_ms,
            error: None,
            answer: None,
        };
        let attempts = attempts.iter().map(attempt).collect();
        TimelineEntry {
            account_id: "acc".into(),
            chat_id: 1,
            seq: 1,
            id: "id".into(),
            from: Sender::Visitor,
            content: Content::text("hi"),
            at: Timestamp(at),
            caused_by: None,
            webhook_dispatch: None,
            receipt: ReceiptTimes::default(),
            edited_at: None,
            deleted_at: None,
            retain_until: None,
            delivery: Some(Delivery { state, attempts, ..Delivery::new(target, Timestamp(at)) }),
        }
    }

    #[test]
    fn answer_is_measured_from_the_last_message_before_it() {
        let entry = |at, from, target| TimelineEntry { from, ..event(at, target, DeliveryState::Delivered, &[]) };
        let visitor = |at| entry(at, Sender::Visitor, Target::Bot);
        let bot = |at| entry(at, Sender::Bot("Robin".into()), Target::Channel);
        let agent = |at| entry(at, Sender::Agent(agent_named("Ann")), Target::Channel);
        let mut activity = BotActivity::new(Timestamp(100));
        activity.add_answers(&[visitor(10), bot(20), visitor(90), visitor(95), bot(105), bot(110)], |_| true);
        activity
            .add_answers(&[visitor(200), agent(210), bot(220), visitor(300), bot(400), visitor(500), bot(507)], |_| {
                true
            });
        assert_eq!((&*activity.answer_ms, activity.median_answer_ms()), (&[10, 100, 7][..], Some(10)));
        assert_eq!(BotActivity::new(Timestamp(0)).median_answer_ms(), None);
    }

    fn agent_named(name: &str) -> AgentSnapshot {
        AgentSnapshot { agent_id: 1, name: name.into(), photo: None }
    }

    #[test]
    fn only_events_of_the_period_count() {
        use DeliveryState::{Delivered, Failed, Pending, Superseded};
        let ok = (Some(200), 70);
        let mut activity = BotActivity::new(Timestamp(100));
        for entry in [
            event(99, Target::Bot, Delivered, &[(Some(200), 999)]),
            event(100, Target::Bot, Delivered, &[ok]),
            event(101, Target::Bot, Delivered, &[(Some(500), 80), ok]),
            event(102, Target::Bot, Failed, &[(None, 3_000); 3]),
            event(103, Target::Bot, Pending, &[(Some(500), 5)]),
            event(104, Target::Bot, Pending, &[]),
            event(105, Target::Bot, Superseded, &[]),
            // Confirmed by an event that the bot sent. Its only attempt could not be recorded.
            event(106, Target::Bot, Delivered, &[]),
            event(107, Target::Channel, Delivered, &[(Some(200), 2_000)]),
        ] {
            activity.add_entry(&entry, Timestamp(1_000_000));
        }
        let expected =
            BotActivity { events: 5, answered: 3, failed: 1, slowest_ms: Some(80), ..BotActivity::new(Timestamp(100)) };
        assert_eq!(activity, expected);
    }
}
