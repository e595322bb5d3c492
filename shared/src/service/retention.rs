//! Applies a changed retention period to chats that were closed before the change.

use std::time::Instant;

use crate::chats::apply_retention::RetentionPass;
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::directory::Directory;

/// Continues the retention passes until `deadline`. A retention pass applies a changed retention period to the closed
/// chats of one account. Returns the number of accounts whose pass failed; the next run continues these passes.
pub async fn continue_passes(
    directory: &Directory,
    chats: &Chats,
    passes: Vec<RetentionPass>,
    deadline: Instant,
) -> u32 {
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
    chats.apply_retention(pass, retention_days, &has_time, clock::now()).await
}
