//! Applies a changed retention period to chats that were closed before the change, and to the audit log.

use std::time::Instant;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::chats::retention::RetentionPass;
use crate::store::directory::Directory;

/// Continues the retention passes until `deadline`. A retention pass applies a changed retention period to the closed
/// chats of one account. Returns the number of accounts whose pass failed; the next run continues these passes.
///
/// The caller guarantees that all idle checks that were due before `checked_until` have been made. An open chat keeps
/// the old retention period until its next idle check. Therefore, a pass first waits until every chat that was open
/// when the pass was planned has been checked.
pub async fn continue_passes(
    directory: &Directory,
    chats: &Chats,
    checked_until: Timestamp,
    deadline: Instant,
) -> Result<u32, Error> {
    let mut failed = 0;
    for pass in chats.due_retention_passes(checked_until, clock::now()).await? {
        // The next run continues with the remaining passes.
        if Instant::now() >= deadline {
            break;
        }
        if let Err(error) = apply_pass(directory, chats, &pass, deadline).await {
            failed += 1;
            tracing::error!(context = error.context(), pass.account_id, "retention not applied: {error}");
        }
    }
    Ok(failed)
}

async fn apply_pass(
    directory: &Directory,
    chats: &Chats,
    pass: &RetentionPass,
    deadline: Instant,
) -> Result<(), Error> {
    let retention_days = directory.settings(&pass.account_id).await?.retention_days;
    let has_time = || Instant::now() < deadline;
    if pass.is_new() && !directory.apply_retention_to_audit_log(&pass.account_id, retention_days, &has_time).await? {
        return chats.postpone_retention(pass, clock::now()).await;
    }
    chats.apply_retention(pass, retention_days, &has_time, clock::now()).await
}
