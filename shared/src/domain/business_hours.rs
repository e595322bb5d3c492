//! Business hours: when the agents of an account, a department or a channel answer.
//!
//! The clocks on the wall decide. A time is within the hours if the local day and minute are within an interval. An
//! interval can go past midnight and belongs to the day on which it starts. An hour that clocks repeat at the end of
//! summer time is open twice if it is open at all, and an hour that they skip is never open.

use std::ops::Range;
use std::time::Duration;

use crate::domain::time_zone::{Day, OffsetPeriod, TimeZone};
use crate::domain::timestamp::Timestamp;

pub const MAX_HOURS_EXCEPTIONS: usize = 100;
pub const DAYS_PER_WEEK: usize = 7;
const MINUTES_PER_DAY: u16 = 24 * 60;
const MS_PER_MINUTE: i64 = 60 * 1_000;
const MS_PER_DAY: i64 = 24 * 60 * MS_PER_MINUTE;
/// The hours of a year are searched for the next opening. Longer ones count as never.
const SEARCH_LIMIT: Duration = Duration::from_secs(366 * 24 * 60 * 60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusinessHours {
    zone: TimeZone,
    /// Boxed, because departments and channels contain it.
    week: Box<Week>,
    exceptions: Vec<HoursException>,
}

/// The intervals that start on each day of the week, from Monday on, sorted by their start.
pub type Week = [Vec<OpenInterval>; DAYS_PER_WEEK];

/// A part of a day, in minutes after midnight. It ends on the next day if `to` is not after `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenInterval {
    from: u16,
    to: u16,
}

/// Days with hours of their own, which replace those of the week. Without intervals, the days are closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoursException {
    pub name: String,
    pub first_day: Day,
    pub last_day: Day,
    /// Those of each of the days.
    pub intervals: Vec<OpenInterval>,
}

/// Why intervals and exceptions are not business hours. Exceptions are named by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidHours {
    /// An interval of this day of the week, 1 for Monday, overlaps the next one.
    Overlap(u8),
    OverlapInException(usize),
    /// The last day is before the first.
    ReversedDays(usize),
    /// Another exception has one of the days too.
    RepeatedDay(usize),
}

impl OpenInterval {
    /// Returns `None` if the interval is empty or not within a day. 1440 is the end of the day.
    pub fn new(from: u16, to: u16) -> Option<Self> {
        (from != to && from < MINUTES_PER_DAY && to <= MINUTES_PER_DAY).then_some(Self { from, to })
    }

    pub fn minutes(self) -> (u16, u16) {
        (self.from, self.to)
    }

    /// Returns the interval of a day in local milliseconds. `day` is the number of days since 1 January 1970.
    fn on(self, day: i64) -> Range<i64> {
        let midnight = day.saturating_mul(MS_PER_DAY);
        let at = |minute: u16| midnight.saturating_add(i64::from(minute) * MS_PER_MINUTE);
        let end = at(self.to);
        at(self.from)..if self.to > self.from { end } else { end.saturating_add(MS_PER_DAY) }
    }
}

impl HoursException {
    fn includes(&self, day: Day) -> bool {
        (self.first_day..=self.last_day).contains(&day)
    }

    fn check(&self, index: usize, earlier: &[Self]) -> Result<(), InvalidHours> {
        let Self { first_day, last_day, intervals, .. } = self;
        if last_day < first_day {
            return Err(InvalidHours::ReversedDays(index));
        }
        if earlier.iter().any(|other| other.first_day <= *last_day && *first_day <= other.last_day) {
            return Err(InvalidHours::RepeatedDay(index));
        }
        let days = if first_day == last_day { 1 } else { 2 };
        let overlap = overlapping_day(std::iter::repeat_n(intervals, days));
        if overlap.is_some() { Err(InvalidHours::OverlapInException(index)) } else { Ok(()) }
    }
}

/// Returns the first of consecutive days, counted from 0, with an interval that overlaps the next one.
fn overlapping_day<'a>(days: impl Iterator<Item = &'a Vec<OpenInterval>>) -> Option<u8> {
    let spans = |(intervals, day): (&'a Vec<OpenInterval>, u8)| {
        intervals.iter().map(move |interval| (day, interval.on(day.into())))
    };
    let spans: Vec<_> = days.zip(0..).flat_map(spans).collect();
    let mut pairs = spans.iter().zip(spans.iter().skip(1));
    pairs.find(|((_, span), (_, next))| next.start < span.end).map(|((day, _), _)| *day)
}

impl BusinessHours {
    pub fn new(zone: TimeZone, mut week: Week, mut exceptions: Vec<HoursException>) -> Result<Self, InvalidHours> {
        week.iter_mut().for_each(|intervals| intervals.sort_unstable());
        exceptions.iter_mut().for_each(|exception| exception.intervals.sort_unstable());
        // The night from Sunday to Monday is the seventh one.
        if let Some(day) = overlapping_day(week.iter().chain(week.first())) {
            return Err(InvalidHours::Overlap(day % 7 + 1));
        }
        for (index, exception) in exceptions.iter().enumerate() {
            exception.check(index, exceptions.get(..index).unwrap_or_default())?;
        }
        Ok(Self { zone, week: Box::new(week), exceptions })
    }

    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    pub fn week(&self) -> &Week {
        &self.week
    }

    pub fn exceptions(&self) -> &[HoursException] {
        &self.exceptions
    }

    pub fn is_open(&self, now: Timestamp) -> bool {
        self.open_spans(now..Timestamp(now.0.saturating_add(1))).next().is_some()
    }

    /// Returns the first open moment from `now` on. `None` if there is none within a year.
    pub fn opens_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.open_spans(now..now.plus(SEARCH_LIMIT)).next().map(|span| span.start)
    }

    /// Returns when the hours end, or begin if it is closed now. `None` if this does not happen within a year.
    pub fn changes_at(&self, now: Timestamp) -> Option<Timestamp> {
        let limit = now.plus(SEARCH_LIMIT);
        let mut end = now;
        for span in self.open_spans(now..limit) {
            if span.start > end {
                return Some(if end == now { span.start } else { end });
            }
            end = span.end;
        }
        (end > now && end < limit).then_some(end)
    }

    /// Returns the moment by which it has been open for `duration` since `from`. `None` if this takes more than a year.
    pub fn add_open_time(&self, from: Timestamp, duration: Duration) -> Option<Timestamp> {
        let mut left = duration;
        for span in self.open_spans(from..from.plus(SEARCH_LIMIT)) {
            let length = span.end.since(span.start);
            if left <= length {
                return Some(span.start.plus(left));
            }
            left = left.saturating_sub(length);
        }
        None
    }

    /// Returns how long it is open in a range.
    pub fn open_time(&self, range: Range<Timestamp>) -> Duration {
        self.open_spans(range).map(|span| span.end.since(span.start)).sum()
    }

    /// Returns the open parts of a range in order. They do not overlap, but one can start where another ends.
    fn open_spans(&self, range: Range<Timestamp>) -> impl Iterator<Item = Range<Timestamp>> {
        let mut covered_until = range.start;
        let spans = self.zone.offset_periods(range).flat_map(|period| self.spans_in_period(period));
        // The last interval before an exception can run into the intervals of its first day.
        spans.filter_map(move |span| {
            let start = span.start.max(covered_until);
            covered_until = covered_until.max(span.end);
            (start < span.end).then_some(start..span.end)
        })
    }

    /// Returns the open parts of a period, sorted by their start.
    fn spans_in_period(&self, period: OffsetPeriod) -> impl Iterator<Item = Range<Timestamp>> {
        let OffsetPeriod { range, offset_ms } = period;
        let day = move |at: Timestamp| {
            i64::try_from(at.0).unwrap_or(i64::MAX).saturating_add(offset_ms).div_euclid(MS_PER_DAY)
        };
        let utc = move |local: i64| Timestamp(u64::try_from(local.saturating_sub(offset_ms)).unwrap_or_default());
        // An interval of the day before can go past midnight.
        let local = (day(range.start) - 1..=day(range.end))
            .flat_map(|day| self.intervals_of(day).iter().map(move |interval| interval.on(day)));
        local.filter_map(move |local| {
            let span = utc(local.start).max(range.start)..utc(local.end).min(range.end);
            (span.start < span.end).then_some(span)
        })
    }

    /// `day` is the number of days since 1 January 1970, a Thursday.
    fn intervals_of(&self, day: i64) -> &[OpenInterval] {
        let date = Day::of_number(day);
        let exception = self.exceptions.iter().find(|exception| date.is_some_and(|date| exception.includes(date)));
        if let Some(exception) = exception {
            return &exception.intervals;
        }
        let weekday = usize::try_from((day + 3).rem_euclid(7)).unwrap_or_default();
        self.week.get(weekday).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod oracle_test;

#[cfg(test)]
pub(crate) fn hours_in(
    zone: &str,
    week: [&[(u16, u16)]; DAYS_PER_WEEK],
    exceptions: Vec<HoursException>,
) -> BusinessHours {
    let zone = TimeZone::parse(zone).unwrap_or_default();
    BusinessHours::new(zone, week.map(intervals), exceptions).unwrap_or_else(|invalid| panic!("{invalid:?}"))
}

#[cfg(test)]
fn intervals(times: &[(u16, u16)]) -> Vec<OpenInterval> {
    times.iter().filter_map(|(from, to)| OpenInterval::new(*from, *to)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSED: &[(u16, u16)] = &[];
    /// 09:00 to 17:00.
    const OFFICE: &[(u16, u16)] = &[(540, 1_020)];
    /// 22:00 to 06:00.
    const NIGHT: &[(u16, u16)] = &[(1_320, 360)];
    const OFFICE_WEEK: [&[(u16, u16)]; 7] = [OFFICE, OFFICE, OFFICE, OFFICE, OFFICE, CLOSED, CLOSED];

    fn moment(text: &str) -> Timestamp {
        let at: jiff::Timestamp = text.parse().unwrap();
        Timestamp(u64::try_from(at.as_millisecond()).unwrap())
    }

    fn exception(first: &str, last: &str, times: &[(u16, u16)]) -> HoursException {
        HoursException {
            name: "Holidays".into(),
            first_day: Day::parse(first).unwrap(),
            last_day: Day::parse(last).unwrap(),
            intervals: intervals(times),
        }
    }

    fn berlin_office() -> BusinessHours {
        let christmas = exception("2026-12-24", "2026-12-27", CLOSED);
        hours_in("Europe/Berlin", OFFICE_WEEK, vec![christmas])
    }

    #[test]
    fn hours_open_and_close_at_local_times() {
        let table = [
            ("2026-11-23T07:59:59.999Z", "2026-11-23T08:00:00Z", "2026-11-23T08:00:00Z"),
            ("2026-11-23T08:00:00Z", "2026-11-23T08:00:00Z", "2026-11-23T16:00:00Z"),
            ("2026-11-23T15:59:59.999Z", "2026-11-23T15:59:59.999Z", "2026-11-23T16:00:00Z"),
            ("2026-11-27T16:00:00Z", "2026-11-30T08:00:00Z", "2026-11-30T08:00:00Z"),
            // Christmas, until Sunday.
            ("2026-12-23T16:00:00Z", "2026-12-28T08:00:00Z", "2026-12-28T08:00:00Z"),
            // Summer time begins on the Sunday in between.
            ("2027-03-26T16:00:00Z", "2027-03-29T07:00:00Z", "2027-03-29T07:00:00Z"),
        ];
        for (now, opens_at, changes_at) in table {
            let (now, opens_at, changes_at) = (moment(now), moment(opens_at), moment(changes_at));
            let hours = berlin_office();
            assert_eq!(hours.is_open(now), opens_at == now, "{}", now.rfc3339());
            assert_eq!(hours.opens_at(now), Some(opens_at), "{}", now.rfc3339());
            assert_eq!(hours.changes_at(now), Some(changes_at), "{}", now.rfc3339());
        }
    }

    #[test]
    fn night_belongs_to_the_day_on_which_it_starts() {
        let closed = exception("2026-11-24", "2026-11-24", CLOSED);
        let hours = hours_in("UTC", [NIGHT, NIGHT, CLOSED, CLOSED, CLOSED, CLOSED, NIGHT], vec![closed]);
        let table = [
            // From Sunday to Monday.
            ("2026-11-23T05:59:00Z", true),
            ("2026-11-23T06:00:00Z", false),
            // The night before the closed Tuesday ends as usual; that of Tuesday does not begin.
            ("2026-11-24T05:59:00Z", true),
            ("2026-11-24T22:00:00Z", false),
            ("2026-11-25T00:00:00Z", false),
        ];
        for (now, is_open) in table {
            assert_eq!(hours.is_open(moment(now)), is_open, "{now}");
        }
    }

    #[test]
    fn hours_can_be_without_an_opening_or_an_end() {
        let now = moment("2026-11-23T12:00:00Z");
        let never = hours_in("UTC", [CLOSED; 7], vec![]);
        assert_eq!((never.is_open(now), never.opens_at(now), never.changes_at(now)), (false, None, None));
        let always = hours_in("UTC", [&[(0, 1_440)]; 7], vec![]);
        assert_eq!((always.is_open(now), always.opens_at(now), always.changes_at(now)), (true, Some(now), None));
        assert_eq!(never.add_open_time(now, Duration::from_secs(1)), None);
        assert_eq!(always.opens_at(Timestamp(u64::MAX)), None);
    }

    #[test]
    fn open_time_stands_still_while_it_is_closed() {
        let (hours, friday) = (berlin_office(), moment("2026-11-27T15:30:00Z"));
        let table =
            [(30, "2026-11-27T16:00:00Z"), (31, "2026-11-30T08:01:00Z"), (30 + 480 + 1, "2026-12-01T08:01:00Z")];
        for (minutes, end) in table {
            let duration = Duration::from_secs(minutes * 60);
            assert_eq!(hours.add_open_time(friday, duration), Some(moment(end)), "{minutes} minutes");
            assert_eq!(hours.open_time(friday..moment(end)), duration, "{minutes} minutes");
        }
        assert_eq!(hours.open_time(friday..friday), Duration::ZERO);
        assert_eq!(hours.open_time(moment("2026-11-30T08:00:00Z")..friday), Duration::ZERO);
    }

    #[test]
    fn intervals_are_within_a_day_and_not_empty() {
        for (from, to) in [(0, 1_440), (0, 1), (1_439, 1_440), (600, 0), (1_320, 360)] {
            assert_eq!(OpenInterval::new(from, to).map(OpenInterval::minutes), Some((from, to)));
        }
        for (from, to) in [(0, 0), (600, 600), (1_440, 60), (0, 1_441)] {
            assert_eq!(OpenInterval::new(from, to), None, "{from} to {to}");
        }
    }

    #[test]
    fn overlaps_and_repeated_days_are_invalid() {
        let [mut week, mut sunday] = [[(); 2]; 2].map(|_| OFFICE_WEEK.map(intervals));
        let new = |week: &Week, exceptions: Vec<HoursException>| {
            BusinessHours::new(TimeZone::default(), week.clone(), exceptions).map(|_| ())
        };
        assert_eq!(new(&week, vec![]), Ok(()));
        week[1] = intervals(&[(1_000, 1_100), (540, 1_001)]);
        assert_eq!(new(&week, vec![]), Err(InvalidHours::Overlap(2)));
        sunday[6] = intervals(&[(1_320, 541)]);
        assert_eq!(new(&sunday, vec![]), Err(InvalidHours::Overlap(7)));
        sunday[6] = intervals(&[(1_320, 540)]);
        assert_eq!(new(&sunday, vec![]), Ok(()));

        let day = || exception("2026-12-24", "2026-12-26", CLOSED);
        let table = [
            (exception("2026-12-27", "2026-12-27", &[(0, 600), (540, 660)]), InvalidHours::OverlapInException(1)),
            // The night of each day runs into the morning of the next one.
            (exception("2026-12-27", "2026-12-28", &[(0, 300), (1_320, 360)]), InvalidHours::OverlapInException(1)),
            (exception("2026-12-28", "2026-12-27", CLOSED), InvalidHours::ReversedDays(1)),
            (exception("2026-12-26", "2026-12-28", CLOSED), InvalidHours::RepeatedDay(1)),
            (exception("2026-12-25", "2026-12-25", CLOSED), InvalidHours::RepeatedDay(1)),
        ];
        for (second, expected) in table {
            assert_eq!(new(&sunday, vec![day(), second.clone()]), Err(expected), "{second:?}");
        }
        let night = exception("2026-12-27", "2026-12-27", &[(0, 300), (1_320, 360)]);
        assert_eq!(new(&sunday, vec![day(), night]), Ok(()));
    }
}
