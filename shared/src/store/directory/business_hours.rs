//! Business hours as attributes of settings, departments and channels, and the hours that apply to a chat.

use serde::{Deserialize, Serialize};

use crate::domain::business_hours::{BusinessHours, HoursException, OpenInterval, Week};
use crate::domain::channels::channel::Channel;
use crate::domain::time_zone::{Day, TimeZone};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::directory::Directory;

#[derive(Serialize, Deserialize)]
pub(super) struct BusinessHoursItem {
    time_zone: String,
    /// The intervals of each day of the week, from Monday on, in minutes after midnight.
    week: Vec<Vec<(u16, u16)>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exceptions: Vec<HoursExceptionItem>,
}

#[derive(Serialize, Deserialize)]
struct HoursExceptionItem {
    name: String,
    first_day: String,
    last_day: String,
    intervals: Vec<(u16, u16)>,
}

fn minutes(intervals: &[OpenInterval]) -> Vec<(u16, u16)> {
    intervals.iter().map(|interval| interval.minutes()).collect()
}

fn intervals(minutes: Vec<(u16, u16)>) -> Result<Vec<OpenInterval>, Error> {
    let interval = |(from, to)| OpenInterval::new(from, to).ok_or_else(|| Error::internal("stored interval"));
    minutes.into_iter().map(interval).collect()
}

impl From<&BusinessHours> for BusinessHoursItem {
    fn from(hours: &BusinessHours) -> Self {
        let exception = |HoursException { name, first_day, last_day, intervals }: &HoursException| HoursExceptionItem {
            name: name.clone(),
            first_day: first_day.to_string(),
            last_day: last_day.to_string(),
            intervals: minutes(intervals),
        };
        Self {
            time_zone: hours.zone().name().to_owned(),
            week: hours.week().iter().map(|intervals| minutes(intervals)).collect(),
            exceptions: hours.exceptions().iter().map(exception).collect(),
        }
    }
}

impl TryFrom<BusinessHoursItem> for BusinessHours {
    type Error = Error;

    fn try_from(item: BusinessHoursItem) -> Result<Self, Error> {
        // A time zone that the library no longer knows is treated as UTC, as in the settings.
        let zone = TimeZone::parse(&item.time_zone).unwrap_or_default();
        let days = item.week.into_iter().map(intervals).collect::<Result<Vec<_>, _>>()?;
        let week = Week::try_from(days).map_err(|_| Error::internal("stored week"))?;
        let exceptions = item.exceptions.into_iter().map(HoursException::try_from).collect::<Result<_, _>>()?;
        Self::new(zone, week, exceptions).map_err(|_| Error::internal("stored business hours"))
    }
}

impl TryFrom<HoursExceptionItem> for HoursException {
    type Error = Error;

    fn try_from(item: HoursExceptionItem) -> Result<Self, Error> {
        let day = |text: &str| Day::parse(text).ok_or_else(|| Error::internal("stored day"));
        let (first_day, last_day) = (day(&item.first_day)?, day(&item.last_day)?);
        Ok(Self { name: item.name, first_day, last_day, intervals: intervals(item.intervals)? })
    }
}

impl Directory {
    /// Returns whether it is within the [`business_hours`](Self::business_hours).
    pub async fn is_open(&self, channel: &Channel, department_id: Option<u64>, now: Timestamp) -> Result<bool, Error> {
        Ok(self.business_hours(channel, department_id).await?.is_none_or(|hours| hours.is_open(now)))
    }

    /// Returns the hours of a channel, which may be up to 10 seconds old: its own, or else those of the chat's
    /// department or the channel's only one, or else those of the account. `None`: always open.
    pub async fn business_hours(
        &self,
        channel: &Channel,
        department_id: Option<u64>,
    ) -> Result<Option<BusinessHours>, Error> {
        if let Some(hours) = &channel.settings.business_hours {
            return Ok(Some(hours.clone()));
        }
        let only_department = || match channel.settings.department_ids.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        if let Some(department_id) = department_id.or_else(only_department) {
            let roster = self.cached_roster(&channel.account_id).await?;
            let hours = roster.department(department_id).and_then(|department| department.business_hours.clone());
            if hours.is_some() {
                return Ok(hours);
            }
        }
        Ok(self.cached_settings(&channel.account_id).await?.business_hours.clone())
    }
}
