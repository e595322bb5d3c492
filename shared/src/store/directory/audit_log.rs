//! The audit log of an account. Each entry is stored in one transaction with the change that it records, so a failed
//! change has no entry. Only changes made by audited requests are recorded. Entries expire at the end of the account's
//! retention period.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::domain::agent::AgentSnapshot;
use crate::domain::audit::{
    AuditAction, AuditEntry, AuditFilter, AuditPage, AuditedChange, AuditedKind, AuditedRequest,
};
use crate::domain::chat::DAY;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_identifier;
use crate::store::directory::Directory;
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, Query, Write, WriteError, n, s};
use crate::store::{from_item, to_item};

const MAX_ENTRIES_PER_QUERY: i32 = 200;
const MAX_EXAMINED_ENTRIES: usize = 1_000;
const MAX_CONCURRENT_UPDATES: usize = 25;

#[derive(Serialize, Deserialize)]
struct AuditItem {
    pk: String,
    /// The id of the entry.
    sk: String,
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_name: Option<String>,
    source_address: String,
    action: String,
    kind: String,
    resource_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resource_name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

/// The audit log has its own partition, because changes of the account's partition are pushed to the agents.
fn audit_partition(account_id: &str) -> String {
    format!("AUDIT#{account_id}")
}

/// An entry's id begins with its time in milliseconds, so that ids sort by time.
fn id_prefix(at: Timestamp) -> String {
    format!("{:013}", at.0.min(MAX_ID_TIME))
}

/// The largest time that fits into an id.
const MAX_ID_TIME: u64 = 9_999_999_999_999;

pub(super) fn attribute_names(changed: &[(&'static str, AttributeValue)]) -> Vec<String> {
    changed.iter().map(|(name, _)| name.trim_start_matches(':').to_owned()).collect()
}

impl Directory {
    /// Returns a directory that records the changes made by this request in the audit log.
    pub fn audited(&self, request: AuditedRequest) -> Self {
        Self { audited_request: Some(request), ..self.clone() }
    }

    /// Executes the writes in one transaction, which costs two writes for each item. If the request is audited, the
    /// transaction also stores an entry for each change.
    pub(super) async fn commit(
        &self,
        account_id: &str,
        mut writes: Vec<Write>,
        changes: Vec<AuditedChange>,
    ) -> Result<(), WriteError> {
        writes.extend(self.audit_writes(account_id, changes)?);
        self.table.transact(writes).await
    }

    /// Deletes an item, and records the change if the request is audited. Does nothing if the item does not exist.
    pub(super) async fn delete_audited(&self, account_id: &str, key: Key, change: AuditedChange) -> Result<(), Error> {
        match self.commit(account_id, vec![Write::DeleteIf(key, ITEM_EXISTS, Vec::new())], vec![change]).await {
            Ok(()) | Err(WriteError::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns no writes if the request is not audited.
    fn audit_writes(&self, account_id: &str, changes: Vec<AuditedChange>) -> Result<Vec<Write>, Error> {
        let Some(request) = &self.audited_request else { return Ok(Vec::new()) };
        let write = |change| Ok(Write::Create(to_item(&AuditItem::new(account_id, request, change)?)?));
        changes.into_iter().map(write).collect()
    }

    /// Applies a changed retention period to the entries while `has_time` returns true. Returns whether it has been
    /// applied to all entries; if not, the next call starts from the beginning. Costs one query for every 200 entries,
    /// and one write for each entry whose expiry changes.
    pub(crate) async fn apply_retention_to_audit_log(
        &self,
        account_id: &str,
        retention_days: Option<u32>,
        has_time: &(dyn Fn() -> bool + Sync),
    ) -> Result<bool, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account",
            values: vec![(":account", s(audit_partition(account_id)))],
            limit: MAX_ENTRIES_PER_QUERY,
            descending: false,
        };
        let mut after = None;
        loop {
            if !has_time() {
                return Ok(false);
            }
            let page = self.table.query_page(query.clone(), "", after).await?;
            self.apply_retention_to_entries(page.items, retention_days).await?;
            after = page.next;
            if after.is_none() {
                return Ok(true);
            }
        }
    }

    async fn apply_retention_to_entries(&self, items: Vec<Item>, retention_days: Option<u32>) -> Result<(), Error> {
        let mut updates = Vec::new();
        for item in items {
            let entry: AuditItem = from_item(item)?;
            let expires_at = retention_days.map(|days| Timestamp(entry.at).plus(DAY * days).seconds());
            if entry.expires_at != expires_at {
                updates.push(expiry_update(Key::new(entry.pk, entry.sk), expires_at));
            }
        }
        for updates in updates.chunks(MAX_CONCURRENT_UPDATES) {
            try_join_all(updates.iter().map(|update| self.table.update_if(update.clone()))).await?;
        }
        Ok(())
    }

    /// Reads at most `limit` entries of the audit log that match the filter, newest first. Returns only entries made
    /// between `from` and `to` and, if `before` is set, only those older than the entry with this id. Costs one query
    /// for every 200 examined entries; a page examines about 1,000 entries at most.
    pub async fn audit_log(
        &self,
        account_id: &str,
        filter: &AuditFilter,
        (from, to): (Timestamp, Timestamp),
        before: Option<String>,
        limit: usize,
    ) -> Result<AuditPage, Error> {
        let first = id_prefix(from);
        // `~` sorts after all characters of an id.
        let end = format!("{}~", id_prefix(to));
        let last = before.clone().filter(|before| *before < end).unwrap_or(end);
        if last < first {
            return Ok(AuditPage { entries: Vec::new(), next: None });
        }
        let query = Query {
            index: None,
            condition: "#pk = :account AND #sk BETWEEN :first AND :last",
            values: vec![(":account", s(audit_partition(account_id))), (":first", s(first)), (":last", s(last))],
            limit: MAX_ENTRIES_PER_QUERY,
            descending: true,
        };
        let (mut entries, mut examined, mut after) = (Vec::new(), 0, None);
        loop {
            let page = self.table.query_page(query.clone(), "", after).await?;
            let (count, mut last_id) = (page.items.len(), None);
            examined += count;
            for (position, item) in page.items.into_iter().enumerate() {
                let entry = entry_from_item(item)?;
                let id = entry.id.clone();
                if before.as_ref() != Some(&id) && filter.matches(&entry) {
                    entries.push(entry);
                }
                let is_last = position + 1 == count && page.next.is_none();
                if entries.len() == limit {
                    return Ok(AuditPage { entries, next: (!is_last).then_some(id) });
                }
                last_id = Some(id);
            }
            if page.next.is_none() || examined >= MAX_EXAMINED_ENTRIES {
                return Ok(AuditPage { entries, next: last_id.filter(|_| page.next.is_some()) });
            }
            after = page.next;
        }
    }
}

impl AuditItem {
    fn new(account_id: &str, request: &AuditedRequest, change: AuditedChange) -> Result<Self, Error> {
        let AuditedRequest { agent, source_address, at, retain_until } = request.clone();
        let AuditedChange { action, kind, id: resource_id, name: resource_name, fields } = change;
        let (agent_id, agent_name) = agent.map(|agent| (agent.agent_id, agent.name)).unzip();
        Ok(Self {
            pk: audit_partition(account_id),
            sk: format!("{}-{}", id_prefix(at), random_identifier()?),
            at: at.0,
            agent_id,
            agent_name,
            source_address,
            action: action.name().to_owned(),
            kind: kind.name().to_owned(),
            resource_id,
            resource_name,
            fields,
            expires_at: retain_until.map(Timestamp::seconds),
        })
    }
}

fn expiry_update(key: Key, expires_at: Option<u64>) -> ItemUpdate {
    let (update, values) = match expires_at {
        Some(expires_at) => ("SET #expires_at = :expires_at", vec![(":expires_at", n(expires_at))]),
        None => ("REMOVE #expires_at", Vec::new()),
    };
    ItemUpdate { key, update, condition: ITEM_EXISTS, values }
}

fn entry_from_item(item: Item) -> Result<AuditEntry, Error> {
    let item: AuditItem = from_item(item)?;
    let unknown = || Error::internal("unknown value in an audit entry");
    let agent =
        item.agent_id.zip(item.agent_name).map(|(agent_id, name)| AgentSnapshot { agent_id, name, photo: None });
    Ok(AuditEntry {
        id: item.sk,
        request: AuditedRequest {
            agent,
            source_address: item.source_address,
            at: Timestamp(item.at),
            retain_until: item.expires_at.map(Timestamp::from_seconds),
        },
        change: AuditedChange {
            action: AuditAction::parse(&item.action).ok_or_else(unknown)?,
            kind: AuditedKind::parse(&item.kind).ok_or_else(unknown)?,
            id: item.resource_id,
            name: item.resource_name,
            fields: item.fields,
        },
    })
}
