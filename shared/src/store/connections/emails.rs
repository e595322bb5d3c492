//! What has been sent by e-mail, and when visitors were last connected, in the Connections table. Both prevent that a
//! person gets something twice. Only accounts that send e-mails have these items.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::connections::Connections;
use crate::store::from_item;
use crate::store::table::{ItemUpdate, Key, WriteResult, n};

/// How long a process may take to send an e-mail before another process sends it. Longer than the timeout of the
/// function.
const CLAIM_DURATION: Duration = Duration::from_secs(30);
/// Longer than a dead-letter queue keeps a task.
const SENT_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Longer than an e-mail can be delayed.
const SEEN_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// One e-mail, or a series of e-mails of which each contains later messages.
pub struct EmailKey<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    /// The kind of the e-mail and, if there are several, its recipient.
    pub name: &'a str,
}

impl EmailKey<'_> {
    fn key(&self) -> Key {
        Key::new(format!("EMAILS#{}#{}", self.account_id, self.chat_id), self.name)
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct SentItem {
    sent_seq: u64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct SeenItem {
    /// Unix time in milliseconds.
    seen_at: u64,
}

fn seen_key(channel_id: &str, external_id: &str) -> Key {
    Key::new(format!("VISITOR_SEEN#{channel_id}#{external_id}"), "SEEN")
}

impl Connections {
    /// Returns the number of the last entry that was sent; 0 if there is none.
    pub(crate) async fn sent_through(&self, email: &EmailKey<'_>) -> Result<u64, Error> {
        let item: SentItem = from_item(self.table.get(email.key()).await?.unwrap_or_default())?;
        Ok(item.sent_seq)
    }

    /// Claims the e-mail that contains the entries through `seq`. Returns false if it has been sent.
    ///
    /// # Errors
    /// Fails with `Unavailable` while another process has claimed it.
    pub(crate) async fn claim_email(&self, email: &EmailKey<'_>, seq: u64, now: Timestamp) -> Result<bool, Error> {
        let claim = ItemUpdate {
            key: email.key(),
            update: "SET #claimed_until = :until, #expires_at = :expires_at",
            condition: "(attribute_not_exists(#claimed_until) OR #claimed_until < :now) AND \
                        (attribute_not_exists(#sent_seq) OR #sent_seq < :seq)",
            values: vec![
                (":until", n(now.plus(CLAIM_DURATION).0)),
                (":expires_at", n(now.plus(SENT_LIFETIME).seconds())),
                (":now", n(now.0)),
                (":seq", n(seq)),
            ],
        };
        let Err(existing) = self.table.update(claim).await.condition()? else { return Ok(true) };
        let sent: SentItem = from_item(existing.unwrap_or_default())?;
        if sent.sent_seq >= seq { Ok(false) } else { Err(Error::unavailable("another process sends the e-mail")) }
    }

    /// Records that the entries through `seq` were sent, or never will be.
    pub(crate) async fn finish_email(&self, email: &EmailKey<'_>, seq: u64) -> Result<(), Error> {
        let update = ItemUpdate {
            key: email.key(),
            update: "SET #sent_seq = :seq REMOVE #claimed_until",
            condition: "attribute_not_exists(#sent_seq) OR #sent_seq < :seq",
            values: vec![(":seq", n(seq))],
        };
        self.table.update_if(update).await
    }

    /// Ends a claim without an e-mail, so that it can be tried again at once.
    pub(crate) async fn release_email(&self, email: &EmailKey<'_>) -> Result<(), Error> {
        let update = ItemUpdate {
            key: email.key(),
            update: "SET #claimed_until = :none",
            condition: "attribute_exists(#claimed_until)",
            values: vec![(":none", n(0))],
        };
        self.table.update_if(update).await
    }

    /// Records that a visitor's browser is connected, or was until now.
    pub async fn record_visitor_seen(&self, channel_id: &str, external_id: &str, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: seen_key(channel_id, external_id),
            update: "SET #seen_at = :now, #expires_at = :expires_at",
            condition: "",
            values: vec![(":now", n(now.0)), (":expires_at", n(now.plus(SEEN_LIFETIME).seconds()))],
        };
        self.table.update_if(update).await
    }

    /// Returns when the visitor's browser was last known to be connected. The epoch if this is not known.
    pub(crate) async fn visitor_seen_at(&self, channel_id: &str, external_id: &str) -> Result<Timestamp, Error> {
        let item: SeenItem = from_item(self.table.get(seen_key(channel_id, external_id)).await?.unwrap_or_default())?;
        Ok(Timestamp(item.seen_at))
    }
}
