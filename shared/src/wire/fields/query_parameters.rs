//! Parses query parameters that several endpoints share.

use crate::domain::timestamp::Timestamp;
use crate::error::Error;

pub(crate) const CURSOR_RULE: &str = "must be a value that this endpoint has returned";

/// Converts Unix times in seconds to a range of timestamps. The range includes the entire second `to`. `None` means
/// that the range has no limit on that side. Fails if `to` is before `from`.
pub(crate) fn time_range(from: Option<u64>, to: Option<u64>) -> Result<(Timestamp, Timestamp), Error> {
    let from = from.unwrap_or(0).saturating_mul(1_000);
    let to = to.map_or(u64::MAX, |to| to.saturating_mul(1_000).saturating_add(999));
    if from > to {
        return Err(Error::field("to", "must not be before from"));
    }
    Ok((Timestamp(from), Timestamp(to)))
}
