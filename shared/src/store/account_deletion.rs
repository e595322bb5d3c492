//! Deletes everything that the tables contain about an account.
//!
//! A deletion reads each table once from beginning to end. Many items can be found only by keys that nobody remembers,
//! such as those of visitors who never opened a chat, of idempotency receipts and of rate counters, so looking for
//! items kind by kind would leave some behind. The progress is an item in the index `due`, in the partition of the
//! retention passes. It contains the position in the table, so that the next run continues after the death of a
//! process.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::account::{DeletionPhase, DeletionProgress};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::delivery::due_index::ACCOUNT_WORK_PARTITION;
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::store::directory::keys::account_partition;
use crate::store::table::{Item, ItemUpdate, Key, Table, WriteResult, item_key, n, s};
use crate::store::{from_item, to_attribute, to_item};

/// How long a deletion waits before it reads the first table, and again after the Directory. By then, all requests have
/// ended that began before the account was suspended, or that found one of its channels or bots in a cache.
const DELETION_GRACE: Duration = Duration::from_secs(40);
const MAX_CONCURRENT_DELETES: usize = 25;
const DELETION_PREFIX: &str = "DELETION#";
pub(crate) const DELETION_SORT_KEY: &str = "DELETION";
/// The parts of a partition key that may contain the id of an account, a channel, a bot or a webhook, counted after the
/// kind of the item. Later parts can be chosen by callers.
const ID_PARTS: usize = 2;

/// A deletion that is in progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AccountDeletion {
    pk: String,
    sk: String,
    pub account_id: String,
    /// Unix time in milliseconds, like the due time.
    started_at: u64,
    phase: String,
    /// The key of the last item that was read in the table of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<(String, String)>,
    deleted_items: u64,
    /// The ids of the account's channels, bots and webhooks. Empty until the first phase starts.
    ids: BTreeSet<String>,
    due: String,
    due_at: u64,
}

fn deletion_key(account_id: &str) -> Key {
    Key::new(format!("{DELETION_PREFIX}{account_id}"), DELETION_SORT_KEY)
}

/// The tables from which accounts are deleted.
pub struct AccountData<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
}

impl Chats {
    /// Plans the deletion of an account. Does nothing if it is planned already.
    pub async fn plan_account_deletion(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        let Key { pk, sk } = deletion_key(account_id);
        let deletion = AccountDeletion {
            pk,
            sk,
            account_id: account_id.to_owned(),
            started_at: now.0,
            phase: DeletionPhase::Directory.name().to_owned(),
            after: None,
            deleted_items: 0,
            ids: BTreeSet::new(),
            due: ACCOUNT_WORK_PARTITION.to_owned(),
            due_at: now.plus(DELETION_GRACE).0,
        };
        self.table.put(to_item(&deletion)?, true).await.condition().map(|_| ())
    }

    /// Returns the progress of a deletion, or `None` if none is in progress.
    pub async fn account_deletion_progress(&self, account_id: &str) -> Result<Option<DeletionProgress>, Error> {
        self.account_deletion(account_id).await?.map(|deletion| deletion.progress()).transpose()
    }

    async fn account_deletion(&self, account_id: &str) -> Result<Option<AccountDeletion>, Error> {
        self.table.get(deletion_key(account_id)).await?.map(from_item).transpose()
    }
}

impl AccountDeletion {
    pub(crate) fn phase(&self) -> Result<DeletionPhase, Error> {
        DeletionPhase::parse(&self.phase).ok_or_else(|| Error::internal("phase of a deletion"))
    }

    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.due_at < now.0
    }

    fn progress(&self) -> Result<DeletionProgress, Error> {
        let (started_at, phase) = (Timestamp(self.started_at), self.phase()?);
        Ok(DeletionProgress { started_at, phase, deleted_items: self.deleted_items })
    }

    /// Whether the item belongs to the account and is deleted before the last phase.
    fn covers(&self, item: &Item) -> bool {
        let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).map_or("", String::as_str);
        let pk = text("pk");
        // The account's own items keep the account suspended until the last phase, which also deletes the progress.
        if pk == account_partition(&self.account_id) || pk.starts_with(DELETION_PREFIX) {
            return false;
        }
        let belongs = |id: &str| id == self.account_id || self.ids.contains(id);
        // The e-mail address in the key of a login is chosen by its account, so only the attribute counts.
        let in_key = !pk.starts_with("LOGIN#") && pk.split('#').skip(1).take(ID_PARTS).any(belongs);
        in_key || ["account_id", "account", "bot_id", "channel_id"].into_iter().any(|name| belongs(text(name)))
    }
}

impl AccountData<'_> {
    /// Continues a deletion while `has_time` returns true. Returns whether this call has completed it. The due time
    /// is set to `now`, so that the next run continues the deletions of other accounts first.
    pub async fn continue_deletion(
        &self,
        mut deletion: AccountDeletion,
        has_time: &(dyn Fn() -> bool + Sync),
        now: Timestamp,
    ) -> Result<bool, Error> {
        if deletion.ids.is_empty() {
            deletion.ids = self.ids(&deletion.account_id).await?;
            if !self.save(&deletion).await? {
                return Ok(false);
            }
        }
        deletion.due_at = now.0;
        loop {
            let phase = deletion.phase()?;
            if !self.continue_phase(&mut deletion, phase, has_time).await? {
                return Ok(false);
            }
            let Some(next) = phase.next() else {
                self.chats.table.delete(deletion_key(&deletion.account_id)).await?;
                return Ok(true);
            };
            (deletion.phase, deletion.after) = (next.name().to_owned(), None);
            if phase == DeletionPhase::Directory {
                deletion.due_at = now.plus(DELETION_GRACE).0;
                self.save(&deletion).await?;
                return Ok(false);
            }
            if !self.save(&deletion).await? {
                return Ok(false);
            }
        }
    }

    /// Returns the ids that occur in keys of the account's items.
    async fn ids(&self, account_id: &str) -> Result<BTreeSet<String>, Error> {
        let mut ids = BTreeSet::from([account_id.to_owned()]);
        ids.extend(self.directory.channels(account_id).await?.into_iter().map(|channel| channel.channel_id));
        ids.extend(self.directory.account_bots(account_id).await?.into_iter().map(|bot| bot.bot_id));
        ids.extend(self.directory.settings(account_id).await?.webhooks.into_iter().map(|webhook| webhook.webhook_id));
        Ok(ids)
    }

    /// Returns whether the phase is complete.
    async fn continue_phase(
        &self,
        deletion: &mut AccountDeletion,
        phase: DeletionPhase,
        has_time: &(dyn Fn() -> bool + Sync),
    ) -> Result<bool, Error> {
        match phase {
            DeletionPhase::Directory => self.continue_table(deletion, &self.directory.table, has_time).await,
            DeletionPhase::Connections => self.continue_table(deletion, &self.connections.table, has_time).await,
            DeletionPhase::Chats => self.continue_table(deletion, &self.chats.table, has_time).await,
            DeletionPhase::Account => {
                self.directory.delete_account_partition(&deletion.account_id).await?;
                Ok(true)
            }
        }
    }

    /// Deletes the account's items in one table. Returns whether the end of the table has been reached.
    async fn continue_table(
        &self,
        deletion: &mut AccountDeletion,
        table: &Table,
        has_time: &(dyn Fn() -> bool + Sync),
    ) -> Result<bool, Error> {
        while has_time() {
            let after = deletion.after.clone().map(|(pk, sk)| Key::new(pk, sk).into_item());
            let page = table.scan_page(after).await?;
            let keys: Vec<Key> = page.items.iter().filter(|item| deletion.covers(item)).filter_map(item_key).collect();
            for keys in keys.chunks(MAX_CONCURRENT_DELETES) {
                try_join_all(keys.iter().map(|key| table.delete(key.clone()))).await?;
            }
            deletion.deleted_items += u64::try_from(keys.len()).unwrap_or(u64::MAX);
            deletion.after = page.next.as_ref().and_then(item_key).map(|Key { pk, sk }| (pk, sk));
            if deletion.after.is_none() {
                return Ok(true);
            }
            if !self.save(deletion).await? {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Stores the progress. Returns false if another run has completed the deletion. The progress is then not stored
    /// again, because the deletion would start anew.
    async fn save(&self, deletion: &AccountDeletion) -> Result<bool, Error> {
        let values = vec![
            (":phase", s(&*deletion.phase)),
            (":after", to_attribute(&deletion.after)?),
            (":deleted_items", n(deletion.deleted_items)),
            (":ids", to_attribute(&deletion.ids)?),
            (":due_at", n(deletion.due_at)),
        ];
        // The start identifies the deletion, because an account can be deleted again if items of it were left.
        let condition = "#started_at = :started_at";
        let mut update = ItemUpdate::set_attributes(deletion_key(&deletion.account_id), values, condition);
        update.values.push((":started_at", n(deletion.started_at)));
        Ok(self.chats.table.update(update).await.condition()?.is_ok())
    }
}
