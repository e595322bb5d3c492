//! Deletes accounts: the operator orders a deletion, and a scheduled function carries it out.

use std::time::Instant;

use crate::domain::accounts::account::{Account, DeletionPhase};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::store::account_deletion::{AccountData, AccountDeletion};
use crate::store::connections::Connections;
use crate::store::directory::Directory;

/// Suspends an account, or ends its suspension. Repeated after an interruption, it completes the change.
pub async fn set_suspension(
    directory: &Directory,
    connections: &Connections,
    account_id: &str,
    suspended_at: Option<Timestamp>,
) -> Result<(), Error> {
    directory.set_account_suspension(account_id, suspended_at).await?;
    for agent in directory.agents(account_id).await? {
        connections.set_sessions_suspended(account_id, agent.agent_id, suspended_at.is_some()).await?;
    }
    Ok(())
}

/// Orders the deletion of an account, which is suspended at once. The deletion is planned first: if the process dies
/// afterwards, the scheduled function makes the other writes.
pub async fn order_deletion(data: &AccountData<'_>, account_id: &str, now: Timestamp) -> Result<Account, Error> {
    data.chats.plan_account_deletion(account_id, now).await?;
    close_account(data, account_id, now).await
}

async fn close_account(data: &AccountData<'_>, account_id: &str, now: Timestamp) -> Result<Account, Error> {
    let account = data.directory.mark_account_deletion(account_id, now).await?;
    set_suspension(data.directory, data.connections, account_id, Some(now)).await?;
    Ok(account)
}

/// Continues the deletions until `deadline`. Returns the number of those that failed; the next run continues them.
pub async fn continue_deletions(data: &AccountData<'_>, deletions: Vec<AccountDeletion>, deadline: Instant) -> u32 {
    let (mut failed, has_time) = (0, || Instant::now() < deadline);
    for deletion in deletions {
        if !has_time() {
            break;
        }
        let account_id = deletion.account_id.clone();
        match continue_deletion(data, deletion, &has_time).await {
            Ok(is_complete) => tracing::info!(account_id, is_complete, "account deletion continued"),
            Err(error) => {
                failed += 1;
                tracing::error!(context = error.context(), account_id, "account not deleted: {error}");
            }
        }
    }
    failed
}

async fn continue_deletion(
    data: &AccountData<'_>,
    deletion: AccountDeletion,
    has_time: &(dyn Fn() -> bool + Sync),
) -> Result<bool, Error> {
    let now = clock::now();
    if deletion.phase()? == DeletionPhase::Directory {
        match close_account(data, &deletion.account_id, now).await {
            // A repeated order can arrive while the last item of the account is deleted.
            Ok(_) | Err(Error::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    data.continue_deletion(deletion, has_time, now).await
}
