//! Applies a changed retention period to existing chats. Open chats get the new period at their next idle check (the
//! scheduled search for open chats without recent activity). Closed chats get it from a retention pass, which reads all
//! of the account's closed chats, newest first. A pass's progress is stored in an item in the `due` index.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::try_join_all;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::domain::chat::Chat;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::account_deletion::{AccountDeletion, DELETION_SORT_KEY};
use crate::store::chats::chat_listing::MAX_HEADERS_PER_READ;
use crate::store::chats::due_index::OverdueItem;
use crate::store::chats::visitor_expiry::{VisitorExpiry, chat_expiry, visitor_number_expiry_write};
use crate::store::chats::{CHAT_ID_UPPER_BOUND, Chats, entry_key, header_key, panel_key, visitor_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Key, Write, WriteResult, n, s};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute};

/// The delay between a change to the retention period and the pass that applies it to closed chats. An open chat is due
/// for an idle check at least once an hour. Unless idle checks are late, all open chats therefore have the new period
/// after this delay, and so do chats that are closed later.
const OPEN_CHAT_GRACE: Duration = Duration::from_secs(70 * 60);
const MAX_CONCURRENT_CHAT_UPDATES: usize = 10;
/// The maximum number of retention passes, and of deletions of accounts, that one run continues.
const MAX_ITEMS_OF_A_KIND_PER_RUN: usize = 100;
const MAX_KEYS_PER_QUERY: i32 = 1_000;
pub(crate) const RETENTION_PARTITION: &str = "retention";

#[derive(Deserialize, Clone, Debug)]
pub struct RetentionPass {
    pub account_id: String,
    /// When the retention period was changed, as Unix time in milliseconds. It identifies the pass.
    started_at: u64,
    /// Chats with this number or a larger one have already been processed.
    before_chat_id: u64,
    due_at: u64,
}

/// What `schedule-close-idle-chats` does for whole accounts.
#[derive(Default)]
pub struct DueAccountWork {
    pub passes: Vec<RetentionPass>,
    pub deletions: Vec<AccountDeletion>,
    /// The number of items that could not be read. They are logged.
    pub failed: u32,
}

/// The attributes of a visitor's item that determine when it expires.
#[derive(Deserialize)]
struct VisitorExpiryItem {
    number: u64,
    #[serde(default)]
    open_chat: Option<u64>,
    #[serde(default)]
    expires_at: Option<u64>,
    #[serde(default)]
    last_closed_at: Option<u64>,
}

fn retention_pass_key(account_id: &str) -> Key {
    Key::new(format!("RETENTION#{account_id}"), "RETENTION")
}

impl Chats {
    /// Plans a pass that applies a changed retention period to the account's closed chats. The new pass replaces any
    /// unfinished one.
    pub async fn plan_retention_pass(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: retention_pass_key(account_id),
            update: "SET #account_id = :account, #started_at = :now, #before_chat_id = :upper_bound, \
                     #due = :due, #due_at = :due_at",
            condition: "",
            values: vec![
                (":account", s(account_id)),
                (":now", n(now.0)),
                (":upper_bound", n(CHAT_ID_UPPER_BOUND)),
                (":due", s(RETENTION_PARTITION)),
                (":due_at", n(now.plus(OPEN_CHAT_GRACE).0)),
            ],
        };
        self.table.update(update).await.unconditional().map(|_| ())
    }

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
        work.passes.retain(|pass| pass.due_at < now.0 && Timestamp(pass.started_at).plus(OPEN_CHAT_GRACE) <= checked);
        work.deletions.retain(|deletion| deletion.is_due(now));
        Ok(work)
    }

    /// Returns the keys of the oldest due passes and of the oldest due deletions.
    async fn due_passes_and_deletions(&self, now: Timestamp) -> Result<(Vec<Key>, Vec<Key>), Error> {
        let (mut passes, mut deletions, mut after) = (Vec::new(), Vec::new(), None);
        loop {
            let page = self.due_items(RETENTION_PARTITION.to_owned(), now, after, MAX_KEYS_PER_QUERY).await?;
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

    /// Continues a pass while `has_time` returns true. For every closed chat that has not expired, the pass sets the
    /// expiry of the chat and of its entries, panel and visitor according to `retention_days`.
    pub async fn apply_retention(
        &self,
        pass: &RetentionPass,
        retention_days: Option<u32>,
        has_time: &(dyn Fn() -> bool + Sync),
        now: Timestamp,
    ) -> Result<(), Error> {
        let mut before_chat_id = pass.before_chat_id;
        loop {
            let page =
                self.listing(&pass.account_id, &["closed"], Some(before_chat_id)).next(MAX_HEADERS_PER_READ).await?;
            for chats in page.chats.chunks(MAX_CONCURRENT_CHAT_UPDATES) {
                if !has_time() {
                    return self.save_progress(pass, before_chat_id, now).await;
                }
                if let Err(error) = self.update_chats_expiry(chats, retention_days, now).await {
                    self.save_progress(pass, before_chat_id, now).await?;
                    return Err(error);
                }
                before_chat_id = chats.last().map_or(before_chat_id, |chat| chat.chat_id);
            }
            let Some(next) = page.next else { return self.finish_pass(pass).await };
            before_chat_id = next;
            self.save_progress(pass, before_chat_id, now).await?;
        }
    }

    /// Stores a pass's progress. The due time is set to the current time, so that the next run processes other
    /// accounts' passes first.
    async fn save_progress(&self, pass: &RetentionPass, before_chat_id: u64, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: retention_pass_key(&pass.account_id),
            update: "SET #before_chat_id = :before_chat_id, #due_at = :now",
            condition: "#started_at = :started_at",
            values: vec![
                (":before_chat_id", n(before_chat_id)),
                (":now", n(now.0)),
                (":started_at", n(pass.started_at)),
            ],
        };
        self.table.update_if(update).await
    }

    async fn finish_pass(&self, pass: &RetentionPass) -> Result<(), Error> {
        let values = vec![(":started_at", n(pass.started_at))];
        self.table
            .delete_if(retention_pass_key(&pass.account_id), "#started_at = :started_at", values)
            .await
            .map(|_| ())
    }

    /// Updates the expiry of `chats` and their visitors. Expired chats stay expired. Each visitor is updated only once,
    /// because concurrent updates of one item would conflict.
    async fn update_chats_expiry(
        &self,
        chats: &[Chat],
        retention_days: Option<u32>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let retained = chats.iter().filter(|chat| !chat.is_expired(now));
        let chats: Vec<_> = retained.map(|chat| Chat { retention_days, ..chat.clone() }).collect();
        try_join_all(chats.iter().map(|chat| self.update_chat_expiry(chat, now))).await?;
        let mut last_closed_chats: BTreeMap<u64, &Chat> = BTreeMap::new();
        for chat in &chats {
            let last = last_closed_chats.entry(chat.visitor_number).or_insert(chat);
            if chat.updated_at > last.updated_at {
                *last = chat;
            }
        }
        try_join_all(last_closed_chats.into_values().map(|chat| self.update_visitor_expiry(chat, now)))
            .await
            .map(|_| ())
    }

    async fn update_chat_expiry(&self, chat: &Chat, now: Timestamp) -> Result<(), Error> {
        self.update_entries_expiry(chat, now).await?;
        let panel = ItemUpdate {
            key: panel_key(&chat.account_id, chat.chat_id),
            update: "SET #expires_at = :expires_at",
            condition: ITEM_EXISTS,
            values: vec![(":expires_at", chat_expiry(chat))],
        };
        let header = ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update: "SET #retention_days = :retention_days, #expires_at = :expires_at",
            condition: ITEM_EXISTS,
            values: vec![(":retention_days", to_attribute(&chat.retention_days)?), (":expires_at", chat_expiry(chat))],
        };
        self.table.update_if(panel).await?;
        self.table.update_if(header).await
    }

    /// Sets the expiry of every entry according to the chat's retention period. Expired entries stay expired.
    pub(crate) async fn update_entries_expiry(&self, chat: &Chat, now: Timestamp) -> Result<(), Error> {
        for entry in self.whole_timeline(&chat.account_id, chat.chat_id, usize::MAX).await? {
            let retain_until = chat.retain_until(entry.at).map(Timestamp::seconds);
            if retain_until == entry.retain_until.map(Timestamp::seconds) || entry.is_expired(now) {
                continue;
            }
            let key = entry_key(&chat.account_id, chat.chat_id, entry.seq);
            let (update, values) = match retain_until {
                Some(until) => ("SET #expires_at = :expires_at", vec![(":expires_at", n(until))]),
                None => ("REMOVE #expires_at", vec![]),
            };
            self.table.update_if(ItemUpdate { key, update, condition: ITEM_EXISTS, values }).await?;
        }
        Ok(())
    }

    /// Updates a visitor's expiry. A visitor expires together with the closed chat that expires last. After the change,
    /// all chats have the same retention period, so the chat that was closed last also expires last.
    async fn update_visitor_expiry(&self, closed_chat: &Chat, now: Timestamp) -> Result<(), Error> {
        let key = visitor_key(&closed_chat.channel_id, &closed_chat.external_id);
        let mut races = WriteRaces::new("visitor retention");
        loop {
            let Some(item) = self.table.get(key.clone()).await? else { return Ok(()) };
            let visitor: VisitorExpiryItem = from_item(item)?;
            let is_expired = visitor.open_chat.is_none() && visitor.expires_at.is_some_and(|end| end <= now.seconds());
            if visitor.number != closed_chat.visitor_number || is_expired {
                return Ok(());
            }
            let last_closed_at = visitor
                .last_closed_at
                .map_or(closed_chat.updated_at, |last| closed_chat.updated_at.max(Timestamp(last)));
            let last = Chat { updated_at: last_closed_at, ..closed_chat.clone() };
            let written = self.table.transact(visitor_expiry_writes(&visitor, &last)).await;
            if let Some(result) = races.final_result(written) {
                return result;
            }
        }
    }
}

/// Returns the writes that set the expiry of a visitor and of the visitor number. They fail if one of the visitor's
/// chats was opened or closed after `visitor` was read. While a chat is open, neither item expires. When it
/// is closed, the later one of the stored expiry and the chat's own expiry applies.
fn visitor_expiry_writes(visitor: &VisitorExpiryItem, last: &Chat) -> Vec<Write> {
    let expiry = VisitorExpiry::of_closed_chat(last);
    let mut values = vec![
        (":retain_until", expiry.attribute().clone()),
        (":last_closed_at", n(last.updated_at.0)),
        (":number", n(visitor.number)),
    ];
    values.extend(visitor.last_closed_at.map(|last_closed_at| (":read_last_closed_at", n(last_closed_at))));
    let is_open = visitor.open_chat.is_some();
    let condition = match (is_open, visitor.last_closed_at.is_some()) {
        (true, true) => "#number = :number AND attribute_exists(#open_chat) AND #last_closed_at = :read_last_closed_at",
        (true, false) => "#number = :number AND attribute_exists(#open_chat) AND attribute_not_exists(#last_closed_at)",
        (false, true) => {
            "#number = :number AND attribute_not_exists(#open_chat) AND #last_closed_at = :read_last_closed_at"
        }
        (false, false) => {
            "#number = :number AND attribute_not_exists(#open_chat) AND attribute_not_exists(#last_closed_at)"
        }
    };
    let update = if is_open {
        "SET #retain_until = :retain_until, #last_closed_at = :last_closed_at"
    } else {
        "SET #expires_at = :retain_until, #retain_until = :retain_until, #last_closed_at = :last_closed_at"
    };
    let visitor = ItemUpdate { key: visitor_key(&last.channel_id, &last.external_id), update, condition, values };
    let number = (!is_open).then(|| visitor_number_expiry_write(last, &expiry));
    [Write::Update(visitor)].into_iter().chain(number).collect()
}
