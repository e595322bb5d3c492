//! Business hours in the bodies of settings, departments and channels.

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};

use crate::domain::business_hours::{
    self, DAYS_PER_WEEK, HoursException, InvalidHours, MAX_HOURS_EXCEPTIONS, OpenInterval, Week,
};
use crate::domain::time_zone::{Day, TimeZone};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::fields::values::{AnyText, Change, List, Text, UnixSeconds, inline_schema};

const FIELD: &str = "business_hours";
const MAX_INTERVALS_PER_DAY: usize = 10;
const MAX_INTERVALS_PER_WEEK: usize = DAYS_PER_WEEK * MAX_INTERVALS_PER_DAY;
const MAX_EXCEPTION_NAME_CHARS: usize = 100;
const MAX_TIME_ZONE_CHARS: usize = 64;
const TIME_OF_DAY_CHARS: usize = 5;
const DATE_CHARS: usize = 10;
pub(super) const TIME_OF_DAY_PATTERN: &str = "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$";
const WEEKDAYS: [&str; DAYS_PER_WEEK] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const DATE_PATTERN: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";

/// When agents answer. Outside the hours, the channel is closed even if an agent is online. The hours of a channel
/// replace those of its department, and these replace those of the account. Null: no hours of its own.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct BusinessHoursChange {
    time_zone: IanaTimeZone,
    weekly: List<WeeklyHoursChange, MAX_INTERVALS_PER_WEEK>,
    exceptions: Option<List<HoursExceptionChange, MAX_HOURS_EXCEPTIONS>>,
}

/// A part of each such day of the week. It ends on the next day if `to` is not after `from`.
#[derive(Clone, Deserialize, JsonSchema)]
struct WeeklyHoursChange {
    day: Weekday,
    from: TimeOfDay,
    to: TimeOfDay,
}

/// A part of a day. It ends on the next day if `to` is not after `from`.
#[derive(Clone, Deserialize, JsonSchema)]
struct DailyHoursChange {
    from: TimeOfDay,
    to: TimeOfDay,
}

/// Days with hours of their own. Without hours, they are closed.
#[derive(Clone, Deserialize, JsonSchema)]
struct HoursExceptionChange {
    name: Text<MAX_EXCEPTION_NAME_CHARS>,
    first_day: CalendarDay,
    /// Absent: the first day is the only one.
    last_day: Option<CalendarDay>,
    hours: Option<List<DailyHoursChange, MAX_INTERVALS_PER_DAY>>,
}

impl BusinessHoursChange {
    /// Returns the hours. An error names the field, which is in the field `business_hours` of the body.
    pub fn checked(&self) -> Result<business_hours::BusinessHours, Error> {
        let List(exceptions) = self.exceptions.clone().unwrap_or(List(Vec::new()));
        let exceptions = exceptions.iter().enumerate().map(|(index, exception)| exception.checked(index));
        let (zone, exceptions) = (self.time_zone.0.clone(), exceptions.collect::<Result<_, _>>()?);
        business_hours::BusinessHours::new(zone, self.week()?, exceptions).map_err(invalid_hours)
    }

    fn week(&self) -> Result<Week, Error> {
        let mut week = Week::default();
        for (index, WeeklyHoursChange { day: Weekday(day), from, to }) in self.weekly.0.iter().enumerate() {
            let interval = interval(*from, *to).ok_or_else(|| empty(format!("weekly[{index}].to")))?;
            if let Some(intervals) = week.get_mut(usize::from(*day) - 1) {
                intervals.push(interval);
            }
        }
        Ok(week)
    }
}

impl HoursExceptionChange {
    fn checked(&self, index: usize) -> Result<HoursException, Error> {
        let Self { name: Text(name), first_day, last_day, hours } = self.clone();
        let List(hours) = hours.unwrap_or(List(Vec::new()));
        let interval = |(number, DailyHoursChange { from, to }): (usize, &DailyHoursChange)| {
            interval(*from, *to).ok_or_else(|| empty(format!("exceptions[{index}].hours[{number}].to")))
        };
        let intervals = hours.iter().enumerate().map(interval).collect::<Result<_, _>>()?;
        let last_day = last_day.unwrap_or(first_day);
        Ok(HoursException { name, first_day: first_day.0, last_day: last_day.0, intervals })
    }
}

fn interval(TimeOfDay(from): TimeOfDay, TimeOfDay(to): TimeOfDay) -> Option<OpenInterval> {
    OpenInterval::new(from, to)
}

fn empty(field: impl std::fmt::Display) -> Error {
    Error::field(format!("{FIELD}.{field}"), "must differ from `from`, which is before 24:00")
}

fn invalid_hours(invalid: InvalidHours) -> Error {
    let (field, problem) = match invalid {
        InvalidHours::Overlap(day) => {
            let name = WEEKDAYS.get(usize::from(day) - 1).copied().unwrap_or_default();
            ("weekly".to_owned(), format!("overlap on {name}"))
        }
        InvalidHours::OverlapInException(index) => (format!("exceptions[{index}].hours"), "overlap".to_owned()),
        InvalidHours::ReversedDays(index) => {
            (format!("exceptions[{index}].last_day"), "must not be before first_day".to_owned())
        }
        InvalidHours::RepeatedDay(index) => {
            (format!("exceptions[{index}].first_day"), "is a day of another exception".to_owned())
        }
    };
    Error::field(format!("{FIELD}.{field}"), problem)
}

/// Returns the change of the hours that a body contains.
pub(super) fn checked_change(
    change: Change<BusinessHoursChange>,
) -> Result<Change<business_hours::BusinessHours>, Error> {
    change.try_map(|hours| hours.checked())
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(try_from = "u8")]
pub(super) struct Weekday(pub u8);

impl TryFrom<u8> for Weekday {
    type Error = &'static str;

    fn try_from(day: u8) -> Result<Self, Self::Error> {
        if (1..=7).contains(&day) { Ok(Self(day)) } else { Err("must be a day of the week from 1 (Monday) to 7") }
    }
}

inline_schema!(Weekday, "Weekday", json_schema!({ "type": "integer", "minimum": 1, "maximum": 7 }));

/// The IANA name of a time zone.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Text<MAX_TIME_ZONE_CHARS>")]
#[schemars(
    with = "Text<MAX_TIME_ZONE_CHARS>",
    inline,
    extend("pattern" = "^[A-Za-z][A-Za-z0-9_+/-]*$", "examples" = ["Europe/Berlin"])
)]
struct IanaTimeZone(TimeZone);

impl TryFrom<Text<MAX_TIME_ZONE_CHARS>> for IanaTimeZone {
    type Error = &'static str;

    fn try_from(Text(name): Text<MAX_TIME_ZONE_CHARS>) -> Result<Self, Self::Error> {
        TimeZone::parse(&name).map(Self).ok_or("must be an IANA time zone such as Europe/Berlin")
    }
}

/// A time of day in minutes after midnight. 24:00 means the end of the day.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "AnyText<TIME_OF_DAY_CHARS>")]
#[schemars(with = "AnyText<TIME_OF_DAY_CHARS>", inline, extend("pattern" = TIME_OF_DAY_PATTERN))]
struct TimeOfDay(u16);

impl TryFrom<AnyText<TIME_OF_DAY_CHARS>> for TimeOfDay {
    type Error = &'static str;

    fn try_from(AnyText(text): AnyText<TIME_OF_DAY_CHARS>) -> Result<Self, Self::Error> {
        minutes_of_day(&text).map(Self).ok_or(INVALID_TIME_OF_DAY)
    }
}

pub(super) const INVALID_TIME_OF_DAY: &str = "must be a time from 00:00 to 24:00";

pub(super) fn minutes_of_day(text: &str) -> Option<u16> {
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let (hour, minute) = text.split_once(':').filter(|(hour, minute)| two_digits(hour) && two_digits(minute))?;
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    let minutes = hour.checked_mul(60)?.checked_add(minute)?;
    (minute < 60 && minutes <= 24 * 60).then_some(minutes)
}

pub(super) fn time_of_day(minutes: u16) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// A date such as 2026-12-24.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "AnyText<DATE_CHARS>")]
#[schemars(with = "AnyText<DATE_CHARS>", inline, extend("pattern" = DATE_PATTERN, "format" = "date"))]
struct CalendarDay(Day);

impl TryFrom<AnyText<DATE_CHARS>> for CalendarDay {
    type Error = &'static str;

    fn try_from(AnyText(text): AnyText<DATE_CHARS>) -> Result<Self, Self::Error> {
        let day = Day::parse(&text).filter(|day| day.to_string() == text);
        day.map(Self).ok_or("must be a date such as 2026-12-24")
    }
}

/// Null: no hours of its own.
#[derive(Serialize, JsonSchema)]
pub struct BusinessHours {
    time_zone: String,
    /// The parts of each day of the week.
    #[schemars(length(max = MAX_INTERVALS_PER_WEEK))]
    weekly: Vec<WeeklyHours>,
    /// Days with hours of their own.
    #[schemars(length(max = MAX_HOURS_EXCEPTIONS))]
    exceptions: Vec<NamedHours>,
    is_open: bool,
    /// When the hours end, or begin if `is_open` is false. Null if this does not happen within a year.
    changes_at: Option<UnixSeconds>,
}

#[derive(Serialize, JsonSchema)]
struct WeeklyHours {
    /// 1 is Monday.
    day: Weekday,
    #[serde(flatten)]
    hours: DailyHours,
}

#[derive(Serialize, JsonSchema)]
struct DailyHours {
    #[schemars(regex(pattern = TIME_OF_DAY_PATTERN))]
    from: String,
    /// On the next day if it is not after `from`.
    #[schemars(regex(pattern = TIME_OF_DAY_PATTERN))]
    to: String,
}

/// Without hours, the days are closed.
#[derive(Serialize, JsonSchema)]
struct NamedHours {
    name: String,
    #[schemars(extend("format" = "date"))]
    first_day: String,
    #[schemars(extend("format" = "date"))]
    last_day: String,
    #[schemars(length(max = MAX_INTERVALS_PER_DAY))]
    hours: Vec<DailyHours>,
}

impl BusinessHours {
    pub fn new(hours: &business_hours::BusinessHours, now: Timestamp) -> Self {
        let of_day = |(day, intervals): (u8, &Vec<OpenInterval>)| -> Vec<_> {
            intervals.iter().map(|interval| WeeklyHours { day: Weekday(day), hours: interval.into() }).collect()
        };
        Self {
            time_zone: hours.zone().name().to_owned(),
            weekly: (1..).zip(hours.week()).flat_map(of_day).collect(),
            exceptions: hours.exceptions().iter().map(NamedHours::from).collect(),
            is_open: hours.is_open(now),
            changes_at: hours.changes_at(now).map(UnixSeconds::from),
        }
    }
}

impl From<&OpenInterval> for DailyHours {
    fn from(interval: &OpenInterval) -> Self {
        let (from, to) = interval.minutes();
        Self { from: time_of_day(from), to: time_of_day(to) }
    }
}

impl From<&HoursException> for NamedHours {
    fn from(HoursException { name, first_day, last_day, intervals }: &HoursException) -> Self {
        Self {
            name: name.clone(),
            first_day: first_day.to_string(),
            last_day: last_day.to_string(),
            hours: intervals.iter().map(DailyHours::from).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::fields::reader::read;

    /// Monday, 23 November 2026, 12:00 UTC.
    const NOW: Timestamp = Timestamp(1_795_435_200_000);

    #[derive(Deserialize)]
    struct Body {
        #[serde(default)]
        business_hours: Change<BusinessHoursChange>,
    }

    fn hours(hours: &Value) -> Result<business_hours::BusinessHours, String> {
        let body =
            read::<Body>(&json!({ "business_hours": hours })).and_then(|body| checked_change(body.business_hours));
        body.map_err(|error| error.to_string()).map(|hours| hours.into_option().unwrap().unwrap())
    }

    #[test]
    fn response_repeats_the_hours_and_is_a_valid_request() {
        let body = json!({
            "time_zone": "Europe/Berlin",
            "weekly": [
                { "day": 1, "from": "09:00", "to": "12:00" }, { "day": 1, "from": "12:30", "to": "24:00" },
                { "day": 7, "from": "22:00", "to": "06:00" },
            ],
            "exceptions": [
                { "name": "Christmas", "first_day": "2026-12-24", "last_day": "2026-12-26", "hours": [] },
                { "name": "Long", "first_day": "2026-12-31", "last_day": "2026-12-31",
                  "hours": [{ "from": "08:00", "to": "02:00" }] },
            ],
        });
        let response = json!(BusinessHours::new(&hours(&body).unwrap(), NOW));
        let Value::Object(mut fields) = response.clone() else { panic!("{response}") };
        assert_eq!(fields.remove("is_open"), Some(json!(true)));
        // Midnight in Berlin.
        assert_eq!(fields.remove("changes_at"), Some(json!(1_795_474_800)));
        assert_eq!(Value::Object(fields), body);
        assert_eq!(hours(&response), hours(&body));
    }

    #[test]
    fn error_names_the_invalid_hours() {
        let with = |name: &str, value: Value| {
            let mut body = json!({ "time_zone": "UTC", "weekly": [{ "day": 1, "from": "09:00", "to": "17:00" }] });
            body[name] = value;
            body
        };
        let weekly = |day: u8, from: &str, to: &str| {
            let monday = json!({ "day": 1, "from": "09:00", "to": "17:00" });
            with("weekly", json!([monday, { "day": day, "from": from, "to": to }]))
        };
        let exception = |first: &str, last: &str, times: &[(&str, &str)]| {
            let hours: Vec<_> = times.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect();
            let named = json!({ "name": "A", "first_day": "2026-12-24" });
            let other = json!({ "name": "B", "first_day": first, "last_day": last, "hours": hours });
            with("exceptions", json!([named, other]))
        };
        let many: Vec<_> = (0..101).map(|_| json!({ "name": "A", "first_day": "2026-12-24" })).collect();
        let table = [
            ("business_hours must", json!([])),
            ("business_hours.time_zone", with("time_zone", json!("Berlin"))),
            ("business_hours.time_zone", with("time_zone", Value::Null)),
            ("business_hours.weekly is required", with("weekly", Value::Null)),
            ("business_hours.weekly[1].day", weekly(8, "09:00", "17:00")),
            ("business_hours.weekly[1].from", weekly(2, "9:00", "17:00")),
            ("business_hours.weekly[1].to", weekly(2, "09:00", "09:00")),
            ("business_hours.weekly[1].to", weekly(2, "24:00", "09:00")),
            ("business_hours.weekly overlap on Monday", weekly(1, "16:59", "18:00")),
            ("business_hours.weekly overlap on Sunday", weekly(7, "22:00", "09:01")),
            ("business_hours.exceptions must", with("exceptions", json!(many))),
            ("business_hours.exceptions[0].name", with("exceptions", json!([{ "first_day": "2026-12-24" }]))),
            ("business_hours.exceptions[1].first_day", exception("2026-02-29", "2026-03-01", &[])),
            ("business_hours.exceptions[1].first_day", exception("20261225", "2026-12-25", &[])),
            ("business_hours.exceptions[1].first_day", exception("2026-12-20", "2026-12-24", &[])),
            ("business_hours.exceptions[1].last_day", exception("2026-12-26", "2026-12-25", &[])),
            ("business_hours.exceptions[1].hours[0].to", exception("2026-12-25", "2026-12-25", &[("00:00", "00:00")])),
            (
                "business_hours.exceptions[1].hours overlap",
                exception("2026-12-25", "2026-12-25", &[("08:00", "12:00"), ("11:00", "13:00")]),
            ),
        ];
        for (field, body) in table {
            let error = hours(&body).unwrap_err();
            assert!(error.starts_with(field), "{body}: {error}");
        }
    }
}
