//! Accounts as the operator manages them.

use futures_util::future::try_join_all;

use crate::domain::accounts::account::Account;
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::directory::items::{AccountItem, OPERATOR_ACCOUNT_ID};
use crate::store::directory::keys::{ACCOUNT_PREFIX, account_key, account_partition};
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY};
use crate::store::from_item;
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, Query, Write, WriteResult, item_key, n, s};

const MAX_CONCURRENT_DELETES: usize = 25;

pub struct AccountPage {
    /// The accounts of this page in the order of their ids.
    pub accounts: Vec<Account>,
    /// The id of the account after which the next page starts. `None` if this is the last page.
    pub next: Option<String>,
}

impl Directory {
    /// Returns whether the account exists and is not being deleted.
    pub async fn has_account(&self, account_id: &str) -> Result<bool, Error> {
        Ok(self.account(account_id).await?.is_some_and(|account| account.deleting_since.is_none()))
    }

    pub async fn account(&self, account_id: &str) -> Result<Option<Account>, Error> {
        self.table.get(account_key(account_id)).await?.map(account_from_item).transpose()
    }

    /// Reads at most `limit` accounts after the account `after`, if it is set. They are read from an index that is
    /// updated with a short delay.
    pub async fn accounts(&self, after: Option<&str>, limit: i32) -> Result<AccountPage, Error> {
        let query = Query {
            index: Some("by_account"),
            condition: "#account_id = :operator AND begins_with(#pk, :accounts)",
            values: vec![(":operator", s(OPERATOR_ACCOUNT_ID)), (":accounts", s(ACCOUNT_PREFIX))],
            limit,
            descending: false,
        };
        let page = self.table.query_page(query, "", after.map(index_key)).await?;
        let accounts: Vec<Account> = page.items.into_iter().map(account_from_item).collect::<Result<_, _>>()?;
        let next = accounts.last().map(|account| account.account_id.clone()).filter(|_| page.next.is_some());
        Ok(AccountPage { accounts, next })
    }

    /// Suspends an account, or ends its suspension if `at` is `None`. Does nothing if it already is in this state.
    pub async fn set_account_suspension(&self, account_id: &str, at: Option<Timestamp>) -> Result<(), Error> {
        if self.settings(account_id).await?.suspended_at.is_some() == at.is_some() {
            return Ok(());
        }
        let values = [(":operator", s(OPERATOR_ACCOUNT_ID))].into_iter().chain(at.map(|at| (":at", n(at.0))));
        let update = match at {
            Some(_) => "SET #account_id = :operator, #suspended_at = :at",
            None => "SET #account_id = :operator REMOVE #suspended_at",
        };
        let account = ItemUpdate { key: account_key(account_id), update, condition: "", values: values.collect() };
        let edit = |settings: &mut AccountSettings| {
            settings.suspended_at = at;
            Ok(())
        };
        self.edit_settings_with(account_id, edit, &[Write::Update(account)]).await.map(|_| ())
    }

    /// Marks an account whose deletion has been ordered. A repeated call changes nothing. Fails with `NotFound` if the
    /// account does not exist.
    pub async fn mark_account_deletion(&self, account_id: &str, now: Timestamp) -> Result<Account, Error> {
        let item_update = ItemUpdate {
            key: account_key(account_id),
            update: "SET #account_id = :operator, #deleting_since = if_not_exists(#deleting_since, :now)",
            condition: ITEM_EXISTS,
            values: vec![(":operator", s(OPERATOR_ACCOUNT_ID)), (":now", n(now.0))],
        };
        account_from_item(self.table.update(item_update).await.on_condition_failed(Error::NotFound)?)
    }

    /// Deletes the items in the partition of an account. The account itself is deleted last, so that an interrupted
    /// deletion can be continued.
    pub(in crate::store) async fn delete_account_partition(&self, account_id: &str) -> Result<(), Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account",
            values: vec![(":account", s(account_partition(account_id)))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: true,
        };
        let own = account_key(account_id);
        let items = self.table.query_all(query, usize::MAX).await?;
        let keys: Vec<Key> = items.iter().filter_map(item_key).filter(|key| *key != own).collect();
        for keys in keys.chunks(MAX_CONCURRENT_DELETES) {
            try_join_all(keys.iter().map(|key| self.table.delete(key.clone()))).await?;
        }
        self.table.delete(own).await.map(|_| ())
    }
}

/// Returns the key of an account in the index `by_account`.
fn index_key(account_id: &str) -> Item {
    let mut key = account_key(account_id).into_item();
    key.insert("account_id".to_owned(), s(OPERATOR_ACCOUNT_ID));
    key
}

fn account_from_item(item: Item) -> Result<Account, Error> {
    let item: AccountItem = from_item(item)?;
    Ok(Account {
        account_id: item.pk.strip_prefix(ACCOUNT_PREFIX).unwrap_or_default().to_owned(),
        name: item.name,
        created_at: Timestamp(item.created_at),
        suspended_at: item.suspended_at.map(Timestamp),
        deleting_since: item.deleting_since.map(Timestamp),
    })
}
