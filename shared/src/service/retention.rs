//! What accounts have changed of their retention, on its way to the chats that have ended.

use std::time::Instant;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::store::chats::Chats;
use crate::store::chats::retention::Pass;
use crate::store::directory::Directory;

/// Goes on with the passes over ended chats, until `end`, when every open chat has been checked that was to be checked before
/// `checked`: an open chat ends by the old retention until it is checked, and the pass must not have gone by then. How many
/// accounts could not be seen to: their passes go on in the next run.
pub async fn go_on(directory: &Directory, chats: &Chats, checked: Timestamp, end: Instant) -> Result<u32, Error> {
    let mut failed = 0;
    for pass in chats.passes(checked, clock::now()).await? {
        // The others are the first ones in the next run.
        if Instant::now() >= end {
            break;
        }
        if let Err(error) = keep(directory, chats, &pass, end).await {
            failed += 1;
            tracing::error!(context = ?error.context(), pass.account_id, "retention not changed: {error}");
        }
    }
    Ok(failed)
}

async fn keep(directory: &Directory, chats: &Chats, pass: &Pass, end: Instant) -> Result<(), Error> {
    let keep_days = directory.settings(&pass.account_id).await?.retention_days;
    chats.keep_ended(pass, keep_days, &|| Instant::now() < end, clock::now()).await
}
