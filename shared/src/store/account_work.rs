//! The work on whole accounts that is due: retention passes and deletions of accounts. Both are items in one partition
//! of the `due` index.

use serde::de::DeserializeOwned;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::account_deletion::{AccountDeletion, DELETION_SORT_KEY};
use crate::store::chats::Chats;
use crate::store::chats::delivery::due_index::{ACCOUNT_WORK_PARTITION, OverdueItem};
use crate::store::chats::expiry::retention_passes::RetentionPass;
use crate::store::from_item;
use crate::store::table::Key;

/// The maximum number of retention passes, and of deletions of accounts, that one run continues.
const MAX_ITEMS_OF_A_KIND_PER_RUN: usize = 100;
const MAX_KEYS_PER_QUERY: i32 = 1_000;

/// What `schedule-close-idle-chats` does for whole accounts.
#[derive(Default)]
pub struct DueAccountWork {
    pub passes: Vec<RetentionPass>,
    pub deletions: Vec<AccountDeletion>,
    /// The number of items that could not be read. They are logged.
    pub failed: u32,
}

impl Chats {
    /// Reads the retention passes and the deletions of accounts that are due, at most 100 of each, so that neither kind
    /// delays the other. A pass waits until every chat that was open when the pass was planned has been checked. The
    /// caller guarantees that all idle checks that were due before `checked` have been made.
    pub async fn due_account_work(&self, checked: Timestamp, now: Timestamp) -> Result<DueAccountWork, Error> {
        let mut work = DueAccountWork::default();
        let (passes, deletions) = self.due_passes_and_deletions(now).await?;
        for key in passes {
            work.passes.extend(self.account_work(key, &mut work.failed).await);
        }
        for key in deletions {
            work.deletions.extend(self.account_work(key, &mut work.failed).await);
        }
        // Skip passes that must still wait. The `due` index is updated with a delay, so it may list a pass that has
        // been replaced by a pass that is not due yet, or a deletion that now waits for its next phase.
        work.passes.retain(|pass| pass.is_due(checked, now));
        work.deletions.retain(|deletion| deletion.is_due(now));
        Ok(work)
    }

    /// Returns the keys of the oldest due passes and of the oldest due deletions.
    async fn due_passes_and_deletions(&self, now: Timestamp) -> Result<(Vec<Key>, Vec<Key>), Error> {
        let (mut passes, mut deletions, mut after) = (Vec::new(), Vec::new(), None);
        loop {
            let page = self.due_items(ACCOUNT_WORK_PARTITION.to_owned(), now, after, MAX_KEYS_PER_QUERY).await?;
            for OverdueItem { key, .. } in page.items {
                let keys = if key.sk == DELETION_SORT_KEY { &mut deletions } else { &mut passes };
                if keys.len() < MAX_ITEMS_OF_A_KIND_PER_RUN {
                    keys.push(key);
                }
            }
            let is_full = [&passes, &deletions].iter().all(|keys| keys.len() == MAX_ITEMS_OF_A_KIND_PER_RUN);
            after = page.next;
            if is_full || after.is_none() {
                return Ok((passes, deletions));
            }
        }
    }

    /// Reads a pass or a deletion. Returns `None` if it has been completed. If it cannot be read, logs and counts this
    /// and returns `None`, so that the others are continued.
    async fn account_work<T: DeserializeOwned>(&self, key: Key, failed: &mut u32) -> Option<T> {
        let pk = key.pk.clone();
        let result = self.table.get(key).await.and_then(|item| item.map(from_item).transpose());
        result.unwrap_or_else(|error| {
            *failed += 1;
            tracing::error!(context = error.context(), pk, "retention pass or deletion not read: {error}");
            None
        })
    }
}
