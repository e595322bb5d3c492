//! Continues what a scheduled function does for whole accounts: retention passes and deletions. Neither delays the
//! other.

use std::time::Instant;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::service::{account_deletion, retention};
use crate::store::account_deletion::AccountData;

/// Continues the due retention passes and deletions until `deadline`. Returns the number of those that failed; the next
/// run continues them. The caller guarantees that all idle checks that were due before `checked_until` have been made.
pub async fn continue_account_work(
    data: &AccountData<'_>,
    checked_until: Timestamp,
    deadline: Instant,
) -> Result<u32, Error> {
    let work = data.chats.due_account_work(checked_until, clock::now()).await?;
    let end_of_passes = end_of_passes(Instant::now(), deadline, !work.deletions.is_empty());
    let failed_passes = retention::continue_passes(data.directory, data.chats, work.passes, end_of_passes).await;
    let failed_deletions = account_deletion::continue_deletions(data, work.deletions, deadline).await;
    Ok(work.failed + failed_passes + failed_deletions)
}

/// Returns when the passes of a run end. If there are deletions, they get at least half of the remaining time.
fn end_of_passes(now: Instant, deadline: Instant, has_deletions: bool) -> Instant {
    if has_deletions { now + deadline.saturating_duration_since(now) / 2 } else { deadline }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn passes_leave_half_of_the_time_to_deletions() {
        let (now, after) = (Instant::now(), Duration::from_secs);
        assert_eq!(end_of_passes(now, now + after(15), true), now + after(15) / 2);
        assert_eq!(end_of_passes(now, now + after(15), false), now + after(15));
        assert_eq!(end_of_passes(now + after(1), now, true), now + after(1), "no time is left");
    }
}
