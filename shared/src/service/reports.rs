//! Reads the counters of an account and adds them up.

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::domain::report::Report;
use crate::domain::time_zone::Day;
use crate::error::Error;
use crate::store::chats::Chats;

/// The number of days whose counters one read returns.
const DAYS_PER_READ: usize = 30;
/// Limits memory usage: one read can return several megabytes of counters.
const CONCURRENT_READS: usize = 3;

/// Returns the report on the `count` days that end with `today`, for one channel or all channels. The report also sums
/// up the `count` days before that period.
pub async fn report(
    chats: &Chats,
    account_id: &str,
    (today, count): (Day, usize),
    channel_id: Option<&str>,
) -> Result<Report, Error> {
    let mut days_before = today.last_days(2 * count);
    let days = days_before.split_off(days_before.len().saturating_sub(count));
    let mut report = Report::new(&days, []);
    let all_days = [days_before, days].concat();
    let ranges = all_days.chunks(DAYS_PER_READ).filter_map(|range| Some((*range.first()?, *range.last()?)));
    let reads: Vec<_> = ranges.map(|(first, last)| chats.counted_chats(account_id, first, last)).collect();
    let mut reads = stream::iter(reads).buffered(CONCURRENT_READS);
    while let Some(counted) = reads.try_next().await? {
        let counted = counted.into_iter();
        let of_channel = counted.filter(|chats| channel_id.is_none_or(|channel_id| chats.channel_id == channel_id));
        of_channel.for_each(|chats| report.add(chats));
    }
    Ok(report)
}
