//! Tests of the deletions of accounts, and of how they share a scheduled function with the retention passes.

use crate::store::account_deletion::{AccountData, AccountDeletion};
use crate::store::account_work::DueAccountWork;
use crate::store::tests::*;

/// More than one run continues of either kind.
const MANY_ACCOUNTS: u64 = 105;
const WORK_OF_A_KIND_PER_RUN: usize = 100;

impl Stores {
    fn data(&self) -> AccountData<'_> {
        AccountData { directory: &self.directory, chats: &self.chats, connections: &self.connections }
    }

    /// Returns the passes and deletions that are due if all idle checks before `now` have been made.
    async fn due_work(&self, now: Timestamp) -> DueAccountWork {
        self.chats.due_account_work(now, now).await.unwrap()
    }
}

fn accounts_of(deletions: &[AccountDeletion]) -> Vec<&str> {
    deletions.iter().map(|deletion| deletion.account_id.as_str()).collect()
}

#[tokio::test]
async fn completed_deletion_is_not_restored_by_a_slower_run() {
    let stores = stores().await;
    stores.closed_chat("v", 0).await;
    stores.chats.plan_account_deletion("acc", NOW).await.unwrap();
    let read_by_slower_run = stores.due_work(seconds_later(MINUTE)).await.deletions;
    let mut minute = 1;
    while let Some(deletion) = stores.due_work(seconds_later(minute * MINUTE)).await.deletions.pop() {
        stores.data().continue_deletion(deletion, &|| true, seconds_later(minute * MINUTE)).await.unwrap();
        minute += 1;
    }
    assert_eq!(minute, 3, "the Directory, and after a pause the rest");
    for deletion in read_by_slower_run {
        let is_complete = stores.data().continue_deletion(deletion, &|| true, seconds_later(DAY)).await.unwrap();
        assert!(!is_complete);
    }
    assert_eq!(stores.chats.account_deletion_progress("acc").await.unwrap(), None);
    assert!(stores.due_work(seconds_later(2 * DAY)).await.deletions.is_empty());
}

#[tokio::test]
async fn interrupted_deletion_lets_others_come_first() {
    let stores = stores().await;
    // The Directory has more than one page, so the first one is followed by a check of the time.
    let text = |text: &str| AttributeValue::S(text.to_owned());
    for n in 0..4 {
        let item = stores.client.put_item().table_name("directory").item("pk", text(&format!("OTHER#{n}")));
        item.item("sk", text("BIG")).item("text", text(&"x".repeat(390_000))).send().await.unwrap();
    }
    stores.chats.plan_account_deletion("first", NOW).await.unwrap();
    stores.chats.plan_account_deletion("second", seconds_later(1)).await.unwrap();
    let now = seconds_later(MINUTE);
    let due = stores.due_work(now).await.deletions;
    assert_eq!(accounts_of(&due), ["first", "second"]);
    stores.data().continue_deletion(due[0].clone(), &budget_of_checks(1), now).await.unwrap();
    let due = stores.due_work(seconds_later(2 * MINUTE)).await.deletions;
    assert_eq!(accounts_of(&due), ["second", "first"]);
}

#[tokio::test]
async fn many_passes_do_not_hide_a_deletion() {
    let stores = stores().await;
    for n in 0..MANY_ACCOUNTS {
        stores.chats.plan_retention_pass(&format!("acc{n}"), NOW).await.unwrap();
    }
    stores.chats.plan_account_deletion("acc", seconds_later(DAY)).await.unwrap();
    let work = stores.due_work(seconds_later(2 * DAY)).await;
    assert_eq!((work.passes.len(), accounts_of(&work.deletions)), (WORK_OF_A_KIND_PER_RUN, vec!["acc"]));
}

#[tokio::test]
async fn many_deletions_do_not_hide_a_pass() {
    let stores = stores().await;
    for n in 0..MANY_ACCOUNTS {
        stores.chats.plan_account_deletion(&format!("acc{n}"), NOW).await.unwrap();
    }
    stores.chats.plan_retention_pass("acc", seconds_later(DAY)).await.unwrap();
    let work = stores.due_work(seconds_later(2 * DAY)).await;
    let passes: Vec<_> = work.passes.iter().map(|pass| pass.account_id.as_str()).collect();
    assert_eq!((passes, work.deletions.len()), (vec!["acc"], WORK_OF_A_KIND_PER_RUN));
}

#[tokio::test]
async fn unreadable_item_does_not_stop_the_others() {
    let stores = stores().await;
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let item = stores.client.put_item().table_name("chats").item("pk", text("RETENTION#broken"));
    let item = item.item("sk", text("RETENTION")).item("due", text("retention"));
    item.item("due_at", AttributeValue::N("1".to_owned())).send().await.unwrap();
    stores.chats.plan_retention_pass("acc", NOW).await.unwrap();
    stores.chats.plan_account_deletion("gone", NOW).await.unwrap();
    let work = stores.due_work(seconds_later(DAY)).await;
    assert_eq!((work.failed, work.passes.len(), work.deletions.len()), (1, 1, 1));
}
