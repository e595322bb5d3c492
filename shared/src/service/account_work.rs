//! Continues what a scheduled function does for whole accounts: retention passes and deletions. Neither delays the
//! other.

use std::time::Instant;

use crate::chats::upkeep::apply_retention::apply_retention;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::service::account_deletion;
use crate::store::account_deletion::AccountData;
use crate::store::chats::Chats;
use crate::store::chats::expiry::retention_passes::RetentionPass;
use crate::store::directory::Directory;

/// Continues the due retention passes and deletions until `deadline`. Returns the number of those that failed; the next
/// run continues them. The caller guarantees that all idle checks that were due before `checked_until` have been made.
pub async fn continue_account_work(
    data: &AccountData<'_>,
    checked_until: Timestamp,
    deadline: Instant,
) -> Result<u32, Error> {
    let work = data.chats.due_account_work(checked_until, clock::now()).await?;
    let end_of_passes = end_of_passes(Instant::now(), deadline, !work.deletions.is_empty());
    let failed_passes = continue_passes(data.directory, data.chats, work.passes, end_of_passes).await;
    let failed_deletions = account_deletion::continue_deletions(data, work.deletions, deadline).await;
    Ok(work.failed + failed_passes + failed_deletions)
}

/// Continues the retention passes until `deadline`. A retention pass applies a changed retention period to the closed
/// chats of one account. Returns the number of accounts whose pass failed; the next run continues these passes.
async fn continue_passes(directory: &Directory, chats: &Chats, passes: Vec<RetentionPass>, deadline: Instant) -> u32 {
    let mut failed = 0;
    for pass in passes {
        // The next run continues with the remaining passes.
        if Instant::now() >= deadline {
            break;
        }
        if let Err(error) = apply_pass(directory, chats, &pass, deadline).await {
            failed += 1;
            tracing::error!(context = error.context(), pass.account_id, "retention not applied: {error}");
        }
    }
    failed
}

async fn apply_pass(
    directory: &Directory,
    chats: &Chats,
    pass: &RetentionPass,
    deadline: Instant,
) -> Result<(), Error> {
    let retention_days = directory.settings(&pass.account_id).await?.retention_days;
    let has_time = || Instant::now() < deadline;
    apply_retention(chats, pass, retention_days, &has_time, clock::now()).await
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
