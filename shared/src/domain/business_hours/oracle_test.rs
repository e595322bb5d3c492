//! Compares business hours with a naive model, minute by minute: it paints the open minutes of each local day, and
//! looks up what the clocks on the wall show.

use std::collections::HashMap;

use jiff::civil::{Date, DateTime, date};
use jiff::{Timestamp as Moment, ToSpan as _, tz};

use super::*;

const DAYS: i64 = 400;
const MINUTES_PER_WEEK: u64 = 7 * 24 * 60;
/// The zones, and the first of the days that are compared.
const ZONES: [(&str, Date); 20] = [
    ("UTC", date(2026, 1, 1)),
    ("Europe/Berlin", date(2026, 1, 1)),
    ("Europe/London", date(2026, 1, 1)),
    ("America/New_York", date(2026, 1, 1)),
    ("America/St_Johns", date(2026, 1, 1)),
    // Clocks change at midnight.
    ("America/Havana", date(2026, 1, 1)),
    ("America/Santiago", date(2026, 1, 1)),
    ("Asia/Beirut", date(2026, 1, 1)),
    ("America/Nuuk", date(2026, 1, 1)),
    ("America/Sao_Paulo", date(2018, 6, 1)),
    // Clocks change by half an hour.
    ("Australia/Lord_Howe", date(2026, 1, 1)),
    ("Australia/Adelaide", date(2026, 1, 1)),
    ("Pacific/Chatham", date(2026, 1, 1)),
    ("Asia/Kathmandu", date(2026, 1, 1)),
    ("Asia/Kolkata", date(2026, 1, 1)),
    ("Asia/Tehran", date(2021, 1, 1)),
    // Clocks change for Ramadan.
    ("Africa/Casablanca", date(2026, 1, 1)),
    // Clocks change by two hours.
    ("Antarctica/Troll", date(2026, 1, 1)),
    // 30 December 2011 did not exist.
    ("Pacific/Apia", date(2011, 6, 1)),
    // The offset changed by half an hour for good.
    ("Asia/Pyongyang", date(2017, 12, 1)),
];

/// A generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn minute(&mut self, limit: u64) -> u16 {
        u16::try_from(self.below(limit)).unwrap()
    }

    /// Returns intervals of a week, of which many begin or end when clocks change: at night, at half hours.
    fn week(&mut self) -> Week {
        let mut bounds: Vec<u64> = (0..28)
            .map(|index| match index % 2 {
                0 => self.below(MINUTES_PER_WEEK),
                _ => self.below(7) * 1_440 + self.below(9) * 30,
            })
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut week = Week::default();
        for pair in bounds.chunks_exact(2).filter(|pair| pair[1] - pair[0] < 1_440) {
            let [from, to] = [pair[0], pair[1]].map(|bound| u16::try_from(bound % 1_440).unwrap());
            week[usize::try_from(pair[0] / 1_440).unwrap()].push(OpenInterval { from, to });
        }
        week
    }

    fn exceptions(&mut self, first: Date, zone: &tz::TimeZone) -> Vec<HoursException> {
        let changes = zone.following(first.to_zoned(tz::TimeZone::UTC).unwrap().timestamp()).take(2);
        let changes: Vec<Date> = changes.map(|change| zone.to_datetime(change.timestamp()).date()).collect();
        let mut exceptions = Vec::<HoursException>::new();
        for index in 0..10 {
            let day = match changes.get(index) {
                Some(change) => change.checked_add((i64::try_from(self.below(3)).unwrap() - 2).days()).unwrap(),
                None => first.checked_add(i64::try_from(self.below(400)).unwrap().days()).unwrap(),
            };
            let last = day.checked_add(i64::try_from(self.below(4)).unwrap().days()).unwrap();
            let (from, to) = (self.minute(300), self.minute(1_440));
            let intervals = OpenInterval::new(from, to).filter(|_| self.below(3) > 0).into_iter().collect();
            let [first_day, last_day] = [day, last].map(|day| Day::parse(&day.to_string()).unwrap());
            let exception = HoursException { name: String::new(), first_day, last_day, intervals };
            if exception.check(exceptions.len(), &exceptions).is_ok() {
                exceptions.push(exception);
            }
        }
        exceptions
    }
}

/// The open minutes of each local day.
struct Model(HashMap<Date, Vec<bool>>);

impl Model {
    /// Paints some days, counted from `first`.
    fn paint(week: &Week, exceptions: &[HoursException], first: Date, days: Range<i64>) -> Self {
        let mut painted = HashMap::new();
        for day in days.map(|day| first.checked_add(day.days()).unwrap()) {
            let text = day.to_string();
            let exception = exceptions
                .iter()
                .find(|exception| (exception.first_day.to_string()..=exception.last_day.to_string()).contains(&text));
            let weekday = usize::try_from(day.weekday().to_monday_zero_offset()).unwrap();
            let intervals = exception.map_or(&week[weekday], |exception| &exception.intervals);
            for interval in intervals {
                Self::paint_interval(&mut painted, day, *interval);
            }
        }
        Self(painted)
    }

    fn paint_interval(painted: &mut HashMap<Date, Vec<bool>>, day: Date, interval: OpenInterval) {
        let mut at: DateTime = day.at(0, 0, 0, 0).checked_add(i64::from(interval.from).minutes()).unwrap();
        loop {
            let minute = usize::try_from(at.hour()).unwrap() * 60 + usize::try_from(at.minute()).unwrap();
            painted.entry(at.date()).or_insert_with(|| vec![false; 1_440])[minute] = true;
            at = at.checked_add(1.minute()).unwrap();
            if u16::try_from(at.hour()).unwrap() * 60 + u16::try_from(at.minute()).unwrap() == interval.to % 1_440 {
                return;
            }
        }
    }

    fn is_open(&self, shown: DateTime) -> bool {
        let minute = usize::try_from(shown.hour()).unwrap() * 60 + usize::try_from(shown.minute()).unwrap();
        self.0.get(&shown.date()).is_some_and(|day| day[minute])
    }
}

/// Compares every minute of some days, counted from `first`, and returns how many.
fn compare(zone_name: &str, first: Date, days: Range<i64>, seed: u64) -> usize {
    let zone = tz::TimeZone::get(zone_name).unwrap();
    let mut random = Random(seed);
    let (week, exceptions) = (random.week(), random.exceptions(first, &zone));
    let hours = BusinessHours::new(TimeZone::parse(zone_name).unwrap(), week.clone(), exceptions.clone()).unwrap();
    // The days after the compared ones contain their next openings.
    let until = days.end + 15;
    let model = Model::paint(&week, &exceptions, first, days.start - 3..until + 3);
    let start = first.to_zoned(tz::TimeZone::UTC).unwrap().timestamp().as_second() / 60;
    let minutes = start + days.start * 1_440..start + (until - 2) * 1_440;
    let is_open = |minute: i64| model.is_open(zone.to_datetime(Moment::from_second(minute * 60).unwrap()));
    let mut opens_at = None;
    let mut compared = 0;
    for minute in minutes.rev() {
        let is_open = is_open(minute);
        opens_at = if is_open { Some(minute) } else { opens_at };
        if minute >= start + days.end * 1_440 {
            continue;
        }
        let at = |minute: i64| Timestamp::from_seconds(u64::try_from(minute * 60).unwrap());
        let context = || format!("{zone_name} {} seed {seed}", at(minute).rfc3339());
        assert_eq!(hours.is_open(at(minute)), is_open, "{}", context());
        assert_eq!(hours.opens_at(at(minute)), opens_at.map(at), "{}", context());
        compared += 1;
    }
    compared
}

/// Returns the days, counted from `first`, on which clocks change.
fn days_of_changes(zone_name: &str, first: Date) -> Vec<i64> {
    let start = first.to_zoned(tz::TimeZone::UTC).unwrap().timestamp();
    let zone = tz::TimeZone::get(zone_name).unwrap();
    let days = zone.following(start).map(|change| (change.timestamp().as_second() - start.as_second()) / 86_400);
    days.take_while(|day| *day < DAYS - 2).collect()
}

#[test]
fn hours_equal_a_model_when_clocks_change() {
    for (seed, (zone, first)) in (1..).zip(ZONES) {
        let changes = days_of_changes(zone, first);
        let days = if changes.is_empty() { vec![40] } else { changes };
        for day in days.into_iter().take(2) {
            compare(zone, first, day - 1..day + 2, seed * 7_919);
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn hours_equal_a_model_in_every_minute() {
    let compared: usize =
        (1..).zip(ZONES).map(|(seed, (zone, first))| compare(zone, first, 0..DAYS, seed * 104_729)).sum();
    assert_eq!(compared, ZONES.len() * usize::try_from(DAYS).unwrap() * 1_440);
}
