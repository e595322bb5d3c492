//! Retention passes. A pass applies a changed retention period to the closed chats of an account. Its progress is an
//! item in the `due` index.

use std::time::Duration;

use serde::Deserialize;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::ACCOUNT_WORK_PARTITION;
use crate::store::chats::{CHAT_ID_UPPER_BOUND, Chats};
use crate::store::table::{ItemUpdate, Key, WriteResult, n, s};

/// The delay between a change to the retention period and the pass that applies it to closed chats. An open chat is due
/// for an idle check at least once an hour. Unless idle checks are late, all open chats therefore have the new period
/// after this delay, and so do chats that are closed later.
const OPEN_CHAT_GRACE: Duration = Duration::from_secs(70 * 60);

#[derive(Deserialize, Clone, Debug)]
pub struct RetentionPass {
    pub account_id: String,
    /// When the retention period was changed, as Unix time in milliseconds. It identifies the pass.
    started_at: u64,
    /// Chats with this number or a larger one have already been processed.
    pub(crate) before_chat_id: u64,
    due_at: u64,
}

fn retention_pass_key(account_id: &str) -> Key {
    Key::new(format!("RETENTION#{account_id}"), "RETENTION")
}

impl RetentionPass {
    /// Whether the pass can be continued: every chat that was open when the pass was planned has been checked. All idle
    /// checks that were due before `checked` have been made.
    pub(crate) fn is_due(&self, checked: Timestamp, now: Timestamp) -> bool {
        self.due_at < now.0 && Timestamp(self.started_at).plus(OPEN_CHAT_GRACE) <= checked
    }
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
                (":due", s(ACCOUNT_WORK_PARTITION)),
                (":due_at", n(now.plus(OPEN_CHAT_GRACE).0)),
            ],
        };
        self.table.update(update).await.unconditional().map(|_| ())
    }

    /// Stores a pass's progress. The due time is set to the current time, so that the next run processes other
    /// accounts' passes first.
    pub(crate) async fn save_progress(
        &self,
        pass: &RetentionPass,
        before_chat_id: u64,
        now: Timestamp,
    ) -> Result<(), Error> {
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

    pub(crate) async fn finish_pass(&self, pass: &RetentionPass) -> Result<(), Error> {
        let values = vec![(":started_at", n(pass.started_at))];
        self.table
            .delete_if(retention_pass_key(&pass.account_id), "#started_at = :started_at", values)
            .await
            .map(|_| ())
    }
}
