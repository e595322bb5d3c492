//! Whether a visitor can ask for a callback (specification, part D, isCallbackEnabled), and the working hours on which
//! this depends.

use crate::domain::accounts::account_settings::CallbackHours;
use crate::domain::time_zone::TimeZone;
use crate::domain::timestamp::Timestamp;

const MINUTES_PER_DAY: i64 = 24 * 60;
const DAYS_PER_WEEK: i64 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackAvailability {
    Available,
    /// The account's settings do not enable callbacks, or the account has no telephony provider.
    Disabled,
    /// The time is outside the working hours, the balance is used up, a limit on callbacks is reached, no agent can be
    /// called, the visitor or the number has a call in progress, or the visitor is blacklisted.
    Unavailable,
}

impl CallbackHours {
    /// Returns whether the hours are the default ones, which do not restrict callbacks.
    pub fn are_unrestricted(&self) -> bool {
        let Self { enabled: _, days, hours, utc_offset: _ } = Self::default();
        self.hours == hours && days.iter().all(|day| self.days.contains(day))
    }

    /// Returns whether a time is within the working hours, in the account's time zone. If the time zone is UTC,
    /// `utc_offset` applies instead. Hours that cross midnight belong to the day on which they start.
    pub fn include(&self, now: Timestamp, zone: &TimeZone) -> bool {
        let (day, minute) = self.local_day_and_minute(now, zone);
        let (from, to) = (i64::from(self.hours.0), i64::from(self.hours.1));
        if to > from {
            self.is_working_day(day) && (from..to).contains(&minute)
        } else {
            minute >= from && self.is_working_day(day) || minute < to && self.is_working_day(day - 1)
        }
    }

    /// Returns the next time at which working hours start after `now`. `None` if no day is a working day.
    pub fn next_start(&self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let (today, _) = self.local_day_and_minute(now, zone);
        let working_days = (today..=today + DAYS_PER_WEEK).filter(|day| self.is_working_day(*day));
        let mut starts = working_days.filter_map(|day| {
            let local_minutes = day * MINUTES_PER_DAY + i64::from(self.hours.0);
            // The offset at the start can differ from the present one. The second step uses it.
            let at = |near: Timestamp| {
                let minutes = local_minutes.saturating_sub(self.offset_minutes(near, zone));
                u64::try_from(minutes).ok().map(|minutes| Timestamp::from_seconds(minutes * 60))
            };
            at(at(now)?)
        });
        starts.find(|start| *start > now)
    }

    fn local_day_and_minute(&self, at: Timestamp, zone: &TimeZone) -> (i64, i64) {
        let minutes = i64::try_from(at.seconds() / 60).unwrap_or(i64::MAX);
        let local_minutes = minutes.saturating_add(self.offset_minutes(at, zone));
        (local_minutes.div_euclid(MINUTES_PER_DAY), local_minutes.rem_euclid(MINUTES_PER_DAY))
    }

    fn offset_minutes(&self, at: Timestamp, zone: &TimeZone) -> i64 {
        if zone.is_utc() { i64::from(self.utc_offset) } else { zone.offset_minutes(at) }
    }

    /// Returns whether callbacks are possible on a day. `day` is the number of days since 1 January 1970, a Thursday.
    fn is_working_day(&self, day: i64) -> bool {
        let weekday = (day + 3).rem_euclid(7) + 1;
        self.days.iter().any(|working_day| i64::from(*working_day) == weekday)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monday, 23 November 2026, 00:00 UTC.
    const MONDAY: u64 = 1_795_392_000;

    fn hours(days: &[u8], from: u16, to: u16, utc_offset: i16) -> CallbackHours {
        CallbackHours { enabled: true, days: days.to_vec(), hours: (from * 60, to * 60), utc_offset }
    }

    #[test]
    fn working_hours_follow_the_days_and_the_time_zone() {
        let (monday, saturday) = (0, 5);
        let table = [
            (hours(&[1], 9, 17, 0), monday, 9, true),
            (hours(&[1], 9, 17, 0), monday, 17, false),
            (hours(&[1], 9, 17, 0), monday, 8, false),
            (hours(&[2], 9, 17, 0), monday, 12, false),
            (hours(&[6], 0, 24, 0), saturday, 23, true),
            (hours(&[], 0, 24, 0), monday, 12, false),
            // 23:00 UTC is 01:00 on Tuesday at UTC+2.
            (hours(&[2], 0, 24, 120), monday, 23, true),
            (hours(&[1], 0, 24, 120), monday, 23, false),
            // 01:00 UTC is 20:00 on Sunday at UTC-5.
            (hours(&[7], 18, 22, -300), monday, 1, true),
            // The night from Monday to Tuesday.
            (hours(&[1], 22, 6, 0), monday, 23, true),
            (hours(&[1], 22, 6, 0), monday + 1, 5, true),
            (hours(&[1], 22, 6, 0), monday + 1, 6, false),
            (hours(&[1], 22, 6, 0), monday, 5, false),
            (hours(&[1], 8, 8, 0), monday + 1, 7, true),
        ];
        for (hours, day, hour, expected) in table {
            let now = Timestamp::from_seconds(MONDAY + (day * 24 + hour) * 3_600);
            assert_eq!(hours.include(now, &TimeZone::default()), expected, "{hours:?} day {day} {hour}:00");
        }
    }
    #[test]
    fn next_start_is_on_the_next_working_day() {
        let (monday, friday, saturday) = (0, 4, 5);
        let at = |day: u64, hour: u64| Timestamp::from_seconds(MONDAY + (day * 24 + hour) * 3_600);
        let weekdays = &[1, 2, 3, 4, 5];
        let table = [
            (hours(weekdays, 9, 17, 0), monday, 8, Some(at(monday, 9))),
            (hours(weekdays, 9, 17, 0), monday, 9, Some(at(monday + 1, 9))),
            (hours(weekdays, 9, 17, 0), friday, 17, Some(at(monday + 7, 9))),
            (hours(weekdays, 9, 17, 120), saturday, 12, Some(at(monday + 7, 7))),
            (hours(&[1], 9, 17, 0), monday, 17, Some(at(monday + 7, 9))),
            (hours(&[1], 22, 6, 0), monday + 1, 7, Some(at(monday + 7, 22))),
            (hours(&[], 9, 17, 0), monday, 8, None),
        ];
        for (hours, day, hour, expected) in table {
            assert_eq!(
                hours.next_start(at(day, hour), &TimeZone::default()),
                expected,
                "{hours:?} day {day} {hour}:00"
            );
        }
    }

    #[test]
    fn next_start_follows_daylight_saving_time() {
        let (berlin, hours) = (TimeZone::parse("Europe/Berlin").unwrap(), hours(&[1], 9, 17, 0));
        // Winter time began on Sunday, 25 October 2026.
        let saturday_in_summer = Timestamp::from_seconds(MONDAY - 30 * 86_400);
        let monday_in_winter = MONDAY - 28 * 86_400;
        let expected = Timestamp::from_seconds(monday_in_winter + 8 * 3_600);
        assert_eq!(hours.next_start(saturday_in_summer, &berlin), Some(expected));
    }

    #[test]
    fn working_hours_follow_daylight_saving_time() {
        let berlin = TimeZone::parse("Europe/Berlin").unwrap();
        let hours = hours(&[1, 2, 3, 4, 5], 9, 17, 120);
        // In each row, the day is an offset in days from `MONDAY`, and the time is in UTC.
        let table = [
            ("Friday in summer", -31, (6, 59), false),
            ("Friday in summer", -31, (7, 0), true),
            ("Monday after the change to winter", -28, (7, 59), false),
            ("Monday after the change to winter", -28, (8, 0), true),
            ("Monday after the change to winter", -28, (15, 59), true),
            ("Monday after the change to summer", 126, (7, 0), true),
            ("Monday after the change to summer", 126, (15, 0), false),
        ];
        for (name, days, (hour, minute), expected) in table {
            let seconds = i64::try_from(MONDAY).unwrap() + days * 86_400 + hour * 3_600 + minute * 60;
            let now = Timestamp::from_seconds(u64::try_from(seconds).unwrap());
            assert_eq!(hours.include(now, &berlin), expected, "{name} {hour}:{minute}");
        }
    }
}
