//! The time zones of accounts, and the calendar days in a time zone.

use std::ops::Range;

use jiff::Span;
use jiff::civil::{Date, date};

use crate::domain::timestamp::Timestamp;

/// A time zone from the IANA database, such as `Europe/Berlin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone(jiff::tz::TimeZone);

impl Default for TimeZone {
    fn default() -> Self {
        Self(jiff::tz::TimeZone::UTC)
    }
}

impl TimeZone {
    /// Returns the time zone with this name, regardless of case, or `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        let zone = jiff::tz::TimeZone::get(name).ok()?;
        (!zone.is_unknown()).then_some(Self(zone))
    }

    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    pub(crate) fn is_utc(&self) -> bool {
        self.name() == "UTC"
    }

    /// Returns the time on the clocks of the zone in the format `2026-11-22 14:05`.
    pub fn local_time(&self, at: Timestamp) -> String {
        jiff_timestamp(at).to_zoned(self.0.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Returns the offset from UTC at the given time, in minutes. For example, the offset of UTC+1 is 60.
    pub(crate) fn offset_minutes(&self, at: Timestamp) -> i64 {
        i64::from(self.0.to_offset(jiff_timestamp(at)).seconds() / 60)
    }

    /// Divides a range at the changes of the clocks. The periods are in order and without gaps.
    pub(crate) fn offset_periods(&self, range: Range<Timestamp>) -> impl Iterator<Item = OffsetPeriod> {
        let start = jiff_timestamp(range.start);
        let changes = self.0.following(start).map(|change| (from_jiff(change.timestamp()), change.offset()));
        let first = (range.start, self.0.to_offset(start));
        let mut starts = std::iter::once(first).chain(changes).take_while(move |(at, _)| *at < range.end).peekable();
        std::iter::from_fn(move || {
            let (start, offset) = starts.next()?;
            let end = starts.peek().map_or(range.end, |(next, _)| *next);
            Some(OffsetPeriod { range: start..end, offset_ms: i64::from(offset.seconds()) * 1_000 })
        })
    }
}

/// A time during which a time zone has the same offset from UTC.
#[derive(Clone, Debug)]
pub(crate) struct OffsetPeriod {
    pub range: Range<Timestamp>,
    pub offset_ms: i64,
}

fn jiff_timestamp(at: Timestamp) -> jiff::Timestamp {
    let moment = i64::try_from(at.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    moment.unwrap_or(jiff::Timestamp::MAX)
}

fn from_jiff(at: jiff::Timestamp) -> Timestamp {
    Timestamp(u64::try_from(at.as_millisecond()).unwrap_or_default())
}

/// A calendar day. It is displayed in the format `2026-11-22`, and days are ordered chronologically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

impl Day {
    pub fn of(at: Timestamp, zone: &TimeZone) -> Self {
        Self(jiff_timestamp(at).to_zoned(zone.0.clone()).date())
    }

    /// Parses a date such as `2026-11-22`. Returns `None` if the text is not a date.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    /// Returns the day by the number of days since 1 January 1970, or `None` after the year 9999.
    pub(crate) fn of_number(days: i64) -> Option<Self> {
        let span = Span::new().try_days(days).ok()?;
        date(1970, 1, 1).checked_add(span).ok().map(Self)
    }

    /// Returns the `count` consecutive days that end with this one, oldest first.
    pub fn last_days(self, count: usize) -> Vec<Self> {
        let mut days: Vec<Self> =
            std::iter::successors(Some(self.0), |day| day.yesterday().ok()).take(count).map(Self).collect();
        days.reverse();
        days
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        TimeZone::parse(name).unwrap()
    }

    fn moment(text: &str) -> Timestamp {
        let at: jiff::Timestamp = text.parse().unwrap();
        Timestamp(u64::try_from(at.as_millisecond()).unwrap())
    }

    #[test]
    fn only_names_of_the_iana_database_are_time_zones() {
        for (name, expected) in
            [("Europe/Berlin", "Europe/Berlin"), ("asia/kolkata", "Asia/Kolkata"), ("UTC", "UTC"), ("utc", "UTC")]
        {
            assert_eq!(zone(name).name(), expected);
        }
        for name in ["", "Berlin", "+02:00", "Etc/Unknown", "Europe/Berlin ", "../UTC"] {
            assert_eq!(TimeZone::parse(name), None, "{name}");
        }
        assert_eq!(TimeZone::default().name(), "UTC");
    }

    #[test]
    fn day_begins_at_midnight_of_the_time_zone() {
        let table = [
            // Winter time, UTC+1.
            ("Europe/Berlin", "2026-11-21T22:59:59.999Z", "2026-11-21"),
            ("Europe/Berlin", "2026-11-21T23:00:00Z", "2026-11-22"),
            // Summer time, UTC+2.
            ("Europe/Berlin", "2026-07-01T21:59:59.999Z", "2026-07-01"),
            ("Europe/Berlin", "2026-07-01T22:00:00Z", "2026-07-02"),
            // The day on which summer time begins has 23 hours.
            ("Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29T21:59:59.999Z", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29T22:00:00Z", "2026-03-30"),
            // The day on which summer time ends has 25 hours.
            ("Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T22:59:59.999Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T23:00:00Z", "2026-10-26"),
            ("America/Los_Angeles", "2026-01-01T07:59:59Z", "2025-12-31"),
            ("Asia/Kathmandu", "2026-01-01T18:15:00Z", "2026-01-02"),
            ("Pacific/Kiritimati", "2026-01-01T10:00:00Z", "2026-01-02"),
            // In Chile, summer time begins at midnight, so this day begins at 01:00.
            ("America/Santiago", "2026-09-06T03:59:59Z", "2026-09-05"),
            ("America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06"),
            ("UTC", "2028-02-29T23:59:59Z", "2028-02-29"),
        ];
        for (name, at, expected) in table {
            assert_eq!(Day::of(moment(at), &zone(name)).to_string(), expected, "{name} {at}");
        }
    }

    #[test]
    fn last_days_have_no_gap_when_the_clocks_change() {
        let today = Day::parse("2026-10-26").unwrap();
        let days: Vec<String> = today.last_days(4).iter().map(Day::to_string).collect();
        assert_eq!(days, ["2026-10-23", "2026-10-24", "2026-10-25", "2026-10-26"]);
        let days = Day::parse("2028-03-01").unwrap().last_days(180);
        assert_eq!((days.len(), days[0].to_string()), (180, "2027-09-04".to_owned()));
    }

    #[test]
    fn any_timestamp_has_a_day() {
        assert_eq!(Day::of(Timestamp(0), &TimeZone::default()).to_string(), "1970-01-01");
        assert_eq!(Day::of(Timestamp(u64::MAX), &TimeZone::default()).to_string(), "9999-12-30");
    }
}
