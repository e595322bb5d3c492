//! The outages of receivers, one item for each. The index `due` contains an outage at the time of its next probe.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Deserialize;

use crate::domain::deliveries::delivery::Target;
use crate::domain::deliveries::delivery_search_and_replay::DeliveryCursor;
use crate::domain::deliveries::outage::{
    DRAIN_TIMEOUT, FIRST_PROBE_DELAY, Outage, OutageKey, OutageStatus, PROBE_INTERVAL,
};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::delivery::due_index::OverdueItem;
use crate::store::from_item;
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, Query, WriteResult, n, s};

/// The partition of the index `due` with the outages of all accounts, by the time of their next probe.
const PROBES_PARTITION: &str = "probes";
/// More receivers than an account can have.
const MAX_OUTAGES: usize = 1_000;

#[derive(Deserialize)]
struct OutageItem {
    pk: String,
    sk: String,
    since: u64,
    last_failed_at: u64,
    #[serde(default)]
    failed_probes: u64,
    #[serde(default)]
    probed: Option<String>,
    #[serde(default)]
    is_over: bool,
    #[serde(default)]
    status: Option<String>,
}

const PREFIX: &str = "OUTAGE#";

fn outage_key(OutageKey { account_id, target, receiver_id }: &OutageKey) -> Key {
    Key::new(format!("{PREFIX}{account_id}"), format!("{}#{receiver_id}", target.name()))
}

fn outage_from_item(item: Item) -> Result<Outage, Error> {
    let item: OutageItem = from_item(item)?;
    let invalid = || Error::internal("outage");
    let (target, receiver_id) = item.sk.split_once('#').ok_or_else(invalid)?;
    Ok(Outage {
        key: OutageKey {
            account_id: item.pk.strip_prefix(PREFIX).ok_or_else(invalid)?.to_owned(),
            target: Target::parse(target).ok_or_else(invalid)?,
            receiver_id: receiver_id.to_owned(),
        },
        since: Timestamp(item.since),
        last_failed_at: Timestamp(item.last_failed_at),
        failed_probes: item.failed_probes,
        probed: item.probed.as_deref().and_then(DeliveryCursor::parse),
        is_over: item.is_over,
        status: item.status.as_deref().and_then(OutageStatus::parse).unwrap_or_default(),
    })
}

impl Chats {
    pub async fn outage(&self, key: &OutageKey) -> Result<Option<Outage>, Error> {
        self.table.get(outage_key(key)).await?.map(outage_from_item).transpose()
    }

    /// Returns the outages of an account's receivers, by kind and id.
    pub async fn outages(&self, account_id: &str) -> Result<Vec<Outage>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :pk",
            values: vec![(":pk", s(format!("{PREFIX}{account_id}")))],
            limit: 100,
            descending: false,
        };
        self.table.query_all(query, MAX_OUTAGES).await?.into_iter().map(outage_from_item).collect()
    }

    /// Reads at most `limit` outages whose next probe was due before `before`, the oldest first.
    pub async fn due_outages(&self, before: Timestamp, limit: i32) -> Result<Vec<Outage>, Error> {
        let page = self.due_items(PROBES_PARTITION.to_owned(), before, None, limit).await?;
        let keys: Vec<Key> = page.items.into_iter().map(|OverdueItem { key, .. }| key).collect();
        self.table.batch_get(keys).await?.into_iter().map(outage_from_item).collect()
    }

    /// Records that a delivery fails, before its failure is stored: an outage must not end while such a delivery
    /// waits. Returns whether this begins the outage.
    pub async fn record_failure_in_outage(&self, key: &OutageKey, now: Timestamp) -> Result<bool, Error> {
        let update = ItemUpdate {
            key: outage_key(key),
            update: "SET #since = if_not_exists(#since, :now), #last_failed_at = :now, \
                     #due = if_not_exists(#due, :due), #due_at = if_not_exists(#due_at, :due_at) REMOVE #is_over",
            condition: "attribute_not_exists(#status) OR #status <> :off",
            values: vec![
                (":now", n(now.0)),
                (":due", s(PROBES_PARTITION)),
                (":due_at", n(now.plus(FIRST_PROBE_DELAY).0)),
                (":off", s(OutageStatus::SwitchedOff.name())),
            ],
        };
        // While the receiver is switched off, its outage has no probes.
        let Ok(item) = self.table.update(update).await.condition()? else { return Ok(false) };
        Ok(outage_from_item(item)?.since == now)
    }

    /// Counts a late attempt that has failed.
    pub async fn count_failed_probe(&self, key: &OutageKey, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: outage_key(key),
            update: "SET #last_failed_at = :now ADD #failed_probes :one",
            condition: ITEM_EXISTS,
            values: vec![(":now", n(now.0)), (":one", n(1))],
        };
        self.table.update_if(update).await
    }

    /// Moves the next probe of an outage into the future and returns the outage. Returns `None` if another process has
    /// done so.
    pub async fn claim_probe(&self, key: &OutageKey, now: Timestamp) -> Result<Option<Outage>, Error> {
        let update = ItemUpdate {
            key: outage_key(key),
            update: "SET #due_at = :next",
            condition: "#due_at <= :now",
            values: vec![(":next", n(now.plus(PROBE_INTERVAL).0)), (":now", n(now.0))],
        };
        self.table.update(update).await.condition()?.ok().map(outage_from_item).transpose()
    }

    /// Stores which delivery is probed.
    pub async fn record_probe(&self, key: &OutageKey, probed: DeliveryCursor) -> Result<(), Error> {
        let (key, values) = (outage_key(key), vec![(":probed", s(probed.to_text()))]);
        let update = "SET #probed = :probed";
        self.table.update_if(ItemUpdate { key, update, condition: ITEM_EXISTS, values }).await
    }

    /// Records that no delivery waits for the receiver, unless one has failed since `outage` was read.
    pub async fn mark_outage_over(&self, outage: &Outage) -> Result<(), Error> {
        let update = ItemUpdate {
            key: outage_key(&outage.key),
            update: "SET #is_over = :true",
            condition: "#last_failed_at = :last_failed_at",
            values: vec![(":true", AttributeValue::Bool(true)), (":last_failed_at", n(outage.last_failed_at.0))],
        };
        self.table.update_if(update).await
    }

    /// Records that the receiver works. Returns false if there is no outage.
    pub async fn record_success_in_outage(&self, key: &OutageKey, now: Timestamp) -> Result<bool, Error> {
        let update = ItemUpdate {
            key: outage_key(key),
            update: "SET #since = :now, #failed_probes = :zero",
            condition: ITEM_EXISTS,
            values: vec![(":now", n(now.0)), (":zero", n(0))],
        };
        Ok(self.table.update(update).await.condition()?.is_ok())
    }

    /// Records that a drain begins. Returns false if one is in progress.
    pub async fn start_drain(&self, key: &OutageKey, now: Timestamp) -> Result<bool, Error> {
        let update = ItemUpdate {
            key: outage_key(key),
            update: "SET #draining_at = :now REMOVE #probed",
            condition: "attribute_exists(#pk) AND (attribute_not_exists(#draining_at) OR #draining_at < :stale)",
            values: vec![(":now", n(now.0)), (":stale", n(now.minus(DRAIN_TIMEOUT).0))],
        };
        Ok(self.table.update(update).await.condition()?.is_ok())
    }

    /// Records a step of a drain, so that no other drain starts soon.
    pub async fn record_drain_step(&self, key: &OutageKey, now: Timestamp) -> Result<(), Error> {
        let (key, values) = (outage_key(key), vec![(":now", n(now.0))]);
        let update = "SET #draining_at = :now";
        self.table.update_if(ItemUpdate { key, update, condition: ITEM_EXISTS, values }).await
    }

    /// Stores the status of an outage, which must be stored with the receiver's settings first. A receiver that is
    /// switched off gets no probes.
    pub async fn save_outage_status(&self, outage: &Outage, status: OutageStatus) -> Result<(), Error> {
        let update = match status {
            OutageStatus::SwitchedOff => "SET #status = :status REMOVE #due, #due_at",
            OutageStatus::None | OutageStatus::Reported => "SET #status = :status",
        };
        let (key, values) = (outage_key(&outage.key), vec![(":status", s(status.name()))]);
        self.table.update_if(ItemUpdate { key, update, condition: ITEM_EXISTS, values }).await
    }

    /// Lets the probes of an outage begin again. Does nothing if there is no outage.
    pub async fn resume_outage(&self, key: &OutageKey, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: outage_key(key),
            update: "SET #since = :now, #last_failed_at = :now, #failed_probes = :zero, #due = :due, #due_at = :now \
                     REMOVE #status, #probed, #draining_at, #is_over",
            condition: ITEM_EXISTS,
            values: vec![(":now", n(now.0)), (":zero", n(0)), (":due", s(PROBES_PARTITION))],
        };
        self.table.update_if(update).await
    }

    /// Deletes an outage that is over, unless a delivery has failed since it was read.
    pub async fn end_outage(&self, outage: &Outage) -> Result<(), Error> {
        let condition = "#is_over = :true AND #last_failed_at = :last_failed_at";
        let values = vec![(":true", AttributeValue::Bool(true)), (":last_failed_at", n(outage.last_failed_at.0))];
        self.table.delete_if(outage_key(&outage.key), condition, values).await.map(|_| ())
    }
}
