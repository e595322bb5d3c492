//! The counters of an account's reports, and how a report adds them up. A chat and everything that happens in it are
//! counted on the day on which the chat was opened.

use crate::domain::named::named;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::calls::phone_call::{Call, CallKind, CallStatus};
use crate::domain::chats::answer_timer::AnswerResult;
use crate::domain::chats::bot_draft::DraftUse;
use crate::domain::chats::chat::{Chat, Rating};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::deliveries::delivery::Target;
use crate::domain::time_zone::Day;

/// The number of histogram buckets between a duration and twice that duration. More buckets make percentiles more exact
/// and the stored items larger.
const BUCKETS_PER_DOUBLING: f64 = 4.0;
/// The last bucket. It contains all durations of about 82 days or more.
const MAX_BUCKET: u8 = 92;
pub const BUCKET_COUNT: usize = MAX_BUCKET as usize + 1;
/// The largest relative error of a duration percentile from one second to 82 days: half the width of a bucket, which is
/// `2^(1/8) - 1`, rounded up. A percentile below a second is reported as half a second.
pub const MAX_PERCENTILE_ERROR: f64 = 0.091;

named! {
    pub enum SettledBy {
        /// An agent had accepted the chat or received it in a transfer, or closed it.
        Agent = "agent",
        /// The bot had the chat until it was closed, and had sent at least one BOT_MESSAGE or INVITE_AGENT event.
        Bot = "bot",
        Nobody = "nobody",
    }
}

impl SettledBy {
    pub const ALL: [Self; 3] = [Self::Agent, Self::Bot, Self::Nobody];

    /// `before` is the chat before it was closed, and `closed` is the closed chat.
    pub fn of(before: &Chat, closed: &Chat) -> Self {
        if !closed.participants.is_empty() {
            Self::Agent
        } else if before.state == ChatState::Bot && closed.bot_event_at.is_some() {
            Self::Bot
        } else {
            Self::Nobody
        }
    }
}

named! {
    /// Whether the agent and the visitor talked to each other in a finished call.
    pub enum CallResult {
        Answered = "answered",
        Failed = "failed",
    }
}

impl CallResult {
    pub const ALL: [Self; 2] = [Self::Answered, Self::Failed];
}

/// A range of durations in a histogram. Bucket 0 contains the durations of less than a second. Bucket `n` contains the
/// durations from `2^((n - 1) / 4)` to `2^(n / 4)` seconds. The last bucket also contains all longer durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket(u8);

impl Bucket {
    pub fn new(number: u8) -> Option<Self> {
        (number <= MAX_BUCKET).then_some(Self(number))
    }

    pub fn number(self) -> u8 {
        self.0
    }

    pub fn of(duration: Duration) -> Self {
        let seconds = duration.as_secs_f64();
        if seconds < 1.0 {
            return Self(0);
        }
        let number = (seconds.log2() * BUCKETS_PER_DOUBLING).floor().min(f64::from(MAX_BUCKET - 1));
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the number is from 0 to MAX_BUCKET"
        )]
        let number = number as u8;
        Self(number + 1)
    }

    /// Returns the bounds of this bucket in seconds. The upper bound is exclusive. The last bucket also contains
    /// durations above its upper bound.
    pub fn bounds(self) -> (f64, f64) {
        let bound = |number: u8| (f64::from(number) / BUCKETS_PER_DOUBLING).exp2();
        match self.0 {
            0 => (0.0, 1.0),
            number => (bound(number - 1), bound(number)),
        }
    }

    /// Returns the duration, in seconds, that represents all durations in this bucket.
    fn middle(self) -> f64 {
        let (from, to) = self.bounds();
        if self.0 == 0 { to / 2.0 } else { (from * to).sqrt() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram(BTreeMap<Bucket, u64>);

impl Histogram {
    pub fn add(&mut self, bucket: Bucket, count: u64) {
        *self.0.entry(bucket).or_default() += count;
    }

    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the buckets that are not empty, in order.
    pub fn buckets(&self) -> impl Iterator<Item = (Bucket, u64)> {
        self.0.iter().map(|(bucket, count)| (*bucket, *count))
    }

    /// Returns, approximately, the duration in seconds that this percentage of the durations does not exceed.
    /// [`MAX_PERCENTILE_ERROR`] describes the error. Returns `None` if the histogram is empty.
    pub fn percentile(&self, percent: u64) -> Option<f64> {
        let rank = (self.count() * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let bucket = self.buckets().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        bucket.map(|(bucket, _)| bucket.middle())
    }
}

/// What a report counts. Each range of durations has its own counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    OpenedChats,
    SettledChats(SettledBy),
    /// Chats whose first answer came this long after the chat was opened.
    FirstAnswer(Bucket),
    /// Answers within their time limit, and later ones.
    Answers(AnswerResult),
    /// Closed chats that lasted this long.
    Length(Bucket),
    Ratings(Rating),
    /// Delivery rounds that failed.
    FailedDeliveries(Target),
    /// Closed chats that have the agent with this id among their participants.
    ChatsOfAgent(u64),
    /// Closed chats that have the tag with this number.
    ChatsWithTag(u64),
    Calls(CallKind, CallResult),
    /// Calls in which the agent and the visitor talked for this long.
    TalkTime(Bucket),
    /// Answers that bots have suggested to agents.
    Drafts,
    /// Messages that agents have made of them.
    UsedDrafts(DraftUse),
}

impl Counter {
    pub fn of_closing(before: &Chat, closed: &Chat) -> Vec<Self> {
        let length = Bucket::of(closed.updated_at.since(closed.opened_at));
        let agents = closed.participants.iter().copied().map(Self::ChatsOfAgent);
        let tags = closed.tag_ids.iter().copied().map(Self::ChatsWithTag);
        let settled = [Self::SettledChats(SettledBy::of(before, closed)), Self::Length(length)];
        settled.into_iter().chain(agents).chain(tags).collect()
    }

    /// Returns the counters that a finished call increases. Returns nothing for a call in progress.
    pub fn of_finished_call(call: &Call) -> Vec<Self> {
        match call.status {
            CallStatus::End(_) => {
                let talk_time = Bucket::of(call.talk_time.unwrap_or_default());
                vec![Self::Calls(call.kind, CallResult::Answered), Self::TalkTime(talk_time)]
            }
            CallStatus::Error(_) => vec![Self::Calls(call.kind, CallResult::Failed)],
            CallStatus::Start | CallStatus::AgentConnected | CallStatus::ClientConnected => Vec::new(),
        }
    }
}

/// The sums of all counters, for example for a day or a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportTotals {
    pub opened_chats: u64,
    pub settled_by_agent: u64,
    pub settled_by_bot: u64,
    pub settled_by_nobody: u64,
    pub first_answer: Histogram,
    pub answers_in_time: u64,
    pub late_answers: u64,
    pub length: Histogram,
    pub positive_ratings: u64,
    pub negative_ratings: u64,
    pub failed_deliveries: BTreeMap<Target, u64>,
    pub calls: BTreeMap<CallKind, CallTotals>,
    pub talk_time: Histogram,
    /// The number of closed chats by agent id.
    pub chats_of_agents: BTreeMap<u64, u64>,
    /// The number of closed chats by tag.
    pub chats_with_tags: BTreeMap<u64, u64>,
    pub drafts: u64,
    pub taken_drafts: u64,
    pub edited_drafts: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTotals {
    pub answered: u64,
    pub failed: u64,
}

impl ReportTotals {
    pub fn add(&mut self, counter: Counter, count: u64) {
        let total = match counter {
            Counter::OpenedChats => &mut self.opened_chats,
            Counter::SettledChats(SettledBy::Agent) => &mut self.settled_by_agent,
            Counter::SettledChats(SettledBy::Bot) => &mut self.settled_by_bot,
            Counter::SettledChats(SettledBy::Nobody) => &mut self.settled_by_nobody,
            Counter::FirstAnswer(bucket) => return self.first_answer.add(bucket, count),
            Counter::Answers(AnswerResult::InTime) => &mut self.answers_in_time,
            Counter::Answers(AnswerResult::Late) => &mut self.late_answers,
            Counter::Length(bucket) => return self.length.add(bucket, count),
            Counter::TalkTime(bucket) => return self.talk_time.add(bucket, count),
            Counter::Ratings(Rating::Positive) => &mut self.positive_ratings,
            Counter::Ratings(Rating::Negative) => &mut self.negative_ratings,
            Counter::FailedDeliveries(target) => self.failed_deliveries.entry(target).or_default(),
            Counter::Calls(kind, CallResult::Answered) => &mut self.calls.entry(kind).or_default().answered,
            Counter::Calls(kind, CallResult::Failed) => &mut self.calls.entry(kind).or_default().failed,
            Counter::Drafts => &mut self.drafts,
            Counter::UsedDrafts(DraftUse::Taken) => &mut self.taken_drafts,
            Counter::UsedDrafts(DraftUse::Edited) => &mut self.edited_drafts,
            Counter::ChatsOfAgent(agent_id) => self.chats_of_agents.entry(agent_id).or_default(),
            Counter::ChatsWithTag(tag_id) => self.chats_with_tags.entry(tag_id).or_default(),
        };
        *total += count;
    }
}

/// The counters of some of a channel's chats, all of which were opened on the same day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedChats {
    pub day: Day,
    pub channel_id: String,
    /// The name that the channel had when one of these chats was opened.
    pub channel_name: String,
    pub counters: Vec<(Counter, u64)>,
}

/// Statistics about an account's chats that were opened on consecutive days.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Every day of the report, oldest first, including days without chats.
    pub days: Vec<(Day, ReportTotals)>,
    pub total: ReportTotals,
    /// The totals of the preceding period with the same number of days.
    pub previous: ReportTotals,
    pub channels: BTreeMap<String, ChannelTotals>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelTotals {
    pub name: String,
    pub totals: ReportTotals,
}

impl Report {
    /// Creates the report about these consecutive days (oldest first). Counters of any other day are added to
    /// `previous`.
    pub fn new(days: &[Day], counted: impl IntoIterator<Item = CountedChats>) -> Self {
        let mut report = Self {
            days: days.iter().map(|day| (*day, ReportTotals::default())).collect(),
            total: ReportTotals::default(),
            previous: ReportTotals::default(),
            channels: BTreeMap::new(),
        };
        counted.into_iter().for_each(|counted| report.add(counted));
        report
    }

    pub fn add(&mut self, counted: CountedChats) {
        let CountedChats { day, channel_id, channel_name, counters } = counted;
        let Some((_, totals_of_day)) = self.days.iter_mut().find(|(of_report, _)| *of_report == day) else {
            counters.into_iter().for_each(|(counter, count)| self.previous.add(counter, count));
            return;
        };
        let channel = self.channels.entry(channel_id).or_default();
        for (counter, count) in counters {
            for totals in [&mut *totals_of_day, &mut self.total, &mut channel.totals] {
                totals.add(counter, count);
            }
        }
        channel.name = channel_name;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_consecutive_ranges() {
        for number in 1..=MAX_BUCKET {
            let (bucket, before) = (Bucket::new(number).unwrap(), Bucket::new(number - 1).unwrap());
            assert_eq!(before.bounds().1, bucket.bounds().0, "{number}");
        }
        assert_eq!(Bucket::new(MAX_BUCKET + 1), None);
    }

    #[test]
    fn duration_is_in_the_bucket_that_contains_it() {
        let table = [(0, 0), (999, 0), (1_000, 1), (1_189, 1), (1_190, 2), (1_999, 4), (2_000, 5), (60_000, 24)];
        for (ms, expected) in table {
            assert_eq!(Bucket::of(Duration::from_millis(ms)).number(), expected, "{ms}");
        }
        for days in [83, 365, 1_000_000] {
            assert_eq!(Bucket::of(Duration::from_secs(days * 24 * 60 * 60)).number(), MAX_BUCKET, "{days}");
        }
    }

    #[test]
    fn empty_histogram_has_no_percentiles() {
        assert_eq!((Histogram::default().percentile(50), Histogram::default().count()), (None, 0));
    }

    proptest! {
        #[test]
        fn percentile_differs_by_at_most_the_stated_error(
            mut seconds in prop::collection::vec(1.0_f64..5_000_000.0, 1..200),
            percent in 1_u64..=100,
        ) {
            let mut histogram = Histogram::default();
            seconds.iter().for_each(|it| histogram.add(Bucket::of(Duration::from_secs_f64(*it)), 1));
            seconds.sort_by(f64::total_cmp);
            let rank = (seconds.len() * percent as usize).div_ceil(100).max(1);
            let exact = seconds[rank - 1];
            let reported = histogram.percentile(percent).unwrap();
            prop_assert!((reported / exact - 1.0).abs() <= MAX_PERCENTILE_ERROR, "{reported} for {exact}");
        }
    }

    #[test]
    fn report_adds_up_days_and_channels() {
        let day = |text: &str| Day::parse(text).unwrap();
        let counted = |on: &str, channel: &str, counters: &[(Counter, u64)]| CountedChats {
            day: day(on),
            channel_id: channel.into(),
            channel_name: format!("Channel {channel}"),
            counters: counters.to_vec(),
        };
        let settled = Counter::SettledChats(SettledBy::Bot);
        let rows = [
            counted("2026-11-18", "a", &[(Counter::OpenedChats, 9)]),
            counted("2026-11-20", "a", &[(Counter::OpenedChats, 2), (settled, 1), (Counter::ChatsOfAgent(3), 1)]),
            counted("2026-11-20", "a", &[(Counter::OpenedChats, 3)]),
            counted("2026-11-22", "b", &[(Counter::OpenedChats, 4), (Counter::ChatsOfAgent(3), 2)]),
        ];
        let report = Report::new(&day("2026-11-22").last_days(3), rows);
        let opened: Vec<_> = report.days.iter().map(|(day, totals)| (day.to_string(), totals.opened_chats)).collect();
        assert_eq!(opened, [("2026-11-20".into(), 5), ("2026-11-21".into(), 0), ("2026-11-22".into(), 4)]);
        assert_eq!((report.total.opened_chats, report.total.settled_by_bot), (9, 1));
        assert_eq!(report.total.chats_of_agents, BTreeMap::from([(3, 3)]));
        assert_eq!(report.previous.opened_chats, 9);
        let channels: Vec<_> = report.channels.values().map(|it| (&*it.name, it.totals.opened_chats)).collect();
        assert_eq!(channels, [("Channel a", 5), ("Channel b", 4)]);
    }
}
