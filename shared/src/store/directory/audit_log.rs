//! The audit log of an account. Each entry is stored in one transaction with the change that it records, so a failed
//! change has no entry. What changes nothing in the Directory table, such as a sign-in or an export, is recorded with
//! one write before it happens. Only audited requests are recorded.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::audit::{
    AUDIT_RETENTION, AuditAction, AuditEntry, AuditFilter, AuditPage, AuditedChange, AuditedKind, AuditedRequest,
};
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_identifier;
use crate::store::directory::Directory;
use crate::store::directory::keys::agent_key;
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Key, Query, Write, WriteError, WriteResult, key_taken, s};
use crate::store::{from_item, to_item};

const MAX_ENTRIES_PER_QUERY: i32 = 200;
const MAX_EXAMINED_ENTRIES: usize = 1_000;
const MINUTE_MS: u64 = 60_000;

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

    /// Executes the writes in one transaction. If the request is audited, the transaction also stores an entry for each
    /// change.
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
        let delete = Write::DeleteIf(key, ITEM_EXISTS, Vec::new());
        self.commit(account_id, vec![delete], vec![change]).await.condition().map(|_| ())
    }

    /// Returns no writes if the request is not audited.
    fn audit_writes(&self, account_id: &str, changes: Vec<AuditedChange>) -> Result<Vec<Write>, Error> {
        let Some(request) = &self.audited_request else { return Ok(Vec::new()) };
        let write = |change| Ok(Write::Create(to_item(&AuditItem::new(account_id, request, change)?)?));
        changes.into_iter().map(write).collect()
    }

    /// Stores an entry for something that changes no item of the Directory table. Does nothing if the request is not
    /// audited.
    pub async fn record(&self, account_id: &str, change: AuditedChange) -> Result<(), Error> {
        let Some(request) = &self.audited_request else { return Ok(()) };
        let item = to_item(&AuditItem::new(account_id, request, change)?)?;
        self.table.put(item, true).await.on_condition_failed(key_taken())
    }

    /// Like [`record`](Self::record), but stores at most one such entry a minute for each agent, address and resource.
    /// For requests that are repeated many times, such as the pages of an export. The time of the entry is the start of
    /// the minute.
    pub async fn record_once_a_minute(&self, account_id: &str, change: AuditedChange) -> Result<(), Error> {
        let Some(request) = &self.audited_request else { return Ok(()) };
        let at = Timestamp(request.at.0 - request.at.0 % MINUTE_MS);
        let agent_id = request.agent.as_ref().map(|agent| agent.agent_id);
        let same = (agent_id, &request.source_address, change.action.name(), change.kind.name(), &change.id);
        let id = format!("{}-{}", id_prefix(at), short_digest(&format!("{same:?}")));
        let request = AuditedRequest { at, ..request.clone() };
        let item = AuditItem { sk: id, ..AuditItem::new(account_id, &request, change)? };
        self.table.put(to_item(&item)?, true).await.condition().map(|_| ())
    }

    /// Makes the requests of a refused sign-in without storing anything, so that the response time of a sign-in does
    /// not reveal whether the e-mail address is known.
    pub async fn imitate_refused_sign_in(&self) -> Result<(), Error> {
        self.table.get(agent_key("", 0)).await?;
        let (key, update) = (Key::new(audit_partition(""), "none"), "REMOVE #none");
        self.table.update_if(ItemUpdate { key, update, condition: ITEM_EXISTS, values: Vec::new() }).await
    }

    /// Reads at most `limit` entries of the audit log that match the filter, newest first. Returns only entries made
    /// between `from` and `to` and, if `before` is set, only those older than the entry with this id. Leaves out
    /// entries that have expired at `now`.
    pub async fn audit_log(
        &self,
        account_id: &str,
        filter: &AuditFilter,
        (from, to): (Timestamp, Timestamp),
        before: Option<String>,
        limit: usize,
        now: Timestamp,
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
                let item: AuditItem = from_item(item)?;
                let is_expired = item.expires_at.is_some_and(|end| end <= now.seconds());
                let entry = item.into_entry()?;
                let id = entry.id.clone();
                if before.as_ref() != Some(&id) && !is_expired && filter.matches(&entry) {
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
        let AuditedRequest { agent, source_address, at } = request.clone();
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
            expires_at: Some(at.plus(AUDIT_RETENTION).seconds()),
        })
    }

    fn into_entry(self) -> Result<AuditEntry, Error> {
        let unknown = || Error::internal("unknown value in an audit entry");
        let agent =
            self.agent_id.zip(self.agent_name).map(|(agent_id, name)| AgentSnapshot { agent_id, name, photo: None });
        Ok(AuditEntry {
            id: self.sk,
            request: AuditedRequest { agent, source_address: self.source_address, at: Timestamp(self.at) },
            change: AuditedChange {
                action: AuditAction::parse(&self.action).ok_or_else(unknown)?,
                kind: AuditedKind::parse(&self.kind).ok_or_else(unknown)?,
                id: self.resource_id,
                name: self.resource_name,
                fields: self.fields,
            },
        })
    }
}

fn short_digest(text: &str) -> String {
    sha256::hex_digest(text).chars().take(16).collect()
}
