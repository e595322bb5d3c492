//! The departments of the Directory table, and who receives a chat.

use std::collections::HashSet;
use std::sync::Arc;

use crate::domain::channel::{Channel, ChannelSettings};
use crate::domain::department::{Audience, ChatDepartment, Department, Roster};
use crate::error::Error;
use crate::store::directory::items::{AgentItem, DepartmentItem};
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY};
use crate::store::table::{EXISTS, Item, ItemUpdate, Key, Query, Values, differing, s};
use crate::store::{from_item, to_attribute, to_item};

/// Departments of an account, so that a roster is read whole by one query.
const MAX_DEPARTMENTS: usize = 100;

const AGENTS: &str = "AGENT#";
const DEPARTMENTS: &str = "DEPARTMENT#";

pub(in crate::store) fn department_key(account_id: &str, department_id: u64) -> Key {
    Key::new(format!("ACCOUNT#{account_id}"), format!("{DEPARTMENTS}{department_id:010}"))
}

impl Directory {
    /// Makes a department under the account's next id. Its agents must be there. A query, two writes.
    pub async fn create_department(&self, account_id: &str, name: String, ids: Vec<u64>) -> Result<Department, Error> {
        let roster = self.roster(account_id).await?;
        check("agent_ids", "agent", &ids, |id| roster.has_agent(id))?;
        if roster.departments().len() >= MAX_DEPARTMENTS {
            return Err(Error::Conflict("an account has at most a hundred departments"));
        }
        let department_id = self.count(account_id, "ADD #departments :one").await?.departments;
        let department = Department { department_id, name, agent_ids: ids };
        self.table.put(to_item(&DepartmentItem::new(account_id, &department))?, true).await?;
        Ok(department)
    }

    /// A department as it is stored, with members who may be gone; another account's does not exist for it. One read.
    pub async fn department(&self, account_id: &str, department_id: u64) -> Result<Option<Department>, Error> {
        let item = self.table.get(department_key(account_id, department_id)).await?;
        item.map(|item| Ok(from_item::<DepartmentItem>(item)?.into())).transpose()
    }

    /// Stores what was changed of a department, if it is still there. Agents whom it did not have before must be there. One
    /// write, and a query when it names some.
    pub async fn save_department(
        &self,
        account_id: &str,
        before: &Department,
        after: &Department,
    ) -> Result<(), Error> {
        let added = added(&before.agent_ids, &after.agent_ids);
        if !added.is_empty() {
            let roster = self.roster(account_id).await?;
            check("agent_ids", "agent", &added, |id| roster.has_agent(id))?;
        }
        let changed = differing(values(before)?, values(after)?);
        if changed.is_empty() {
            return Ok(());
        }
        let change = ItemUpdate::setting(department_key(account_id, after.department_id), changed, EXISTS);
        Ok(self.table.update(change).await.map(|_| ())?)
    }

    /// Deletes a department. Channels and chats may name it still, which then counts for nothing (see
    /// [`crate::domain::department`]).
    pub async fn delete_department(&self, account_id: &str, department_id: u64) -> Result<(), Error> {
        self.table.delete(department_key(account_id, department_id)).await.map(|_| ())
    }

    /// Everybody and every department of the account as they are now, by id. One query for each megabyte of them.
    pub async fn roster(&self, account_id: &str) -> Result<Roster, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account AND #sk BETWEEN :first AND :last",
            values: vec![
                (":account", s(format!("ACCOUNT#{account_id}"))),
                (":first", s(AGENTS)),
                (":last", s(format!("{DEPARTMENTS}~"))),
            ],
            limit: 2 * MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        roster(self.table.query_all(query, usize::MAX).await?, account_id)
    }

    /// The roster, possibly as it was up to 10 s ago. One query, none when cached.
    pub async fn cached_roster(&self, account_id: &str) -> Result<Arc<Roster>, Error> {
        match self.rosters.get(account_id) {
            Some(known) => Ok(known.unwrap_or_default()),
            None => self.fresh_roster(account_id).await,
        }
    }

    /// The roster as it is now, which is cached from then on. One query.
    pub async fn fresh_roster(&self, account_id: &str) -> Result<Arc<Roster>, Error> {
        Ok(self.rosters.put(account_id, Some(self.roster(account_id).await?)).unwrap_or_default())
    }

    /// Who receives the chats of a channel, possibly as it was up to 10 s ago. Nothing is read for a channel that names
    /// nobody; else a query, none when cached.
    pub async fn audience(&self, channel: &Channel) -> Result<Audience, Error> {
        if !channel.settings.names_somebody() {
            return Ok(Audience::Everybody);
        }
        Ok(self.cached_roster(&channel.account_id).await?.audience(&channel.settings))
    }

    /// The department of a chat that is opened through a channel. A query when the channel names one department, none
    /// when cached.
    pub async fn department_of(&self, channel: &Channel) -> Result<Option<ChatDepartment>, Error> {
        if channel.settings.department_ids.len() != 1 {
            return Ok(None);
        }
        Ok(self.cached_roster(&channel.account_id).await?.department_of(&channel.settings))
    }

    /// Refuses a channel that names agents or departments which it did not name before and which are not there. A
    /// query, none when it names no others.
    pub async fn check_named(
        &self,
        account_id: &str,
        before: Option<&ChannelSettings>,
        after: &ChannelSettings,
    ) -> Result<(), Error> {
        let agents = added(before.map_or(&[], |before| &before.agent_ids), &after.agent_ids);
        let departments = added(before.map_or(&[], |before| &before.department_ids), &after.department_ids);
        if agents.is_empty() && departments.is_empty() {
            return Ok(());
        }
        let roster = self.roster(account_id).await?;
        check("agent_ids", "agent", &agents, |id| roster.has_agent(id))?;
        check("department_ids", "department", &departments, |id| roster.department(id).is_some())
    }
}

fn values(department: &Department) -> Result<Values, Error> {
    Ok(vec![(":name", s(&*department.name)), (":agent_ids", to_attribute(&department.agent_ids)?)])
}

/// The ids that were not there before. Those that were may be gone by now; who changes something else must not be
/// stopped by that.
fn added(before: &[u64], after: &[u64]) -> Vec<u64> {
    after.iter().filter(|id| !before.contains(id)).copied().collect()
}

fn check(field: &str, what: &str, ids: &[u64], is_there: impl Fn(u64) -> bool) -> Result<(), Error> {
    match ids.iter().find(|id| !is_there(**id)) {
        None => Ok(()),
        Some(id) => Err(Error::field(field, format_args!("names {what} {id}, which does not exist"))),
    }
}

fn roster(items: Vec<Item>, account_id: &str) -> Result<Roster, Error> {
    let (mut agent_ids, mut departments) = (HashSet::new(), Vec::new());
    for item in items {
        let sort_key = item.get("sk").and_then(|key| key.as_s().ok()).map(String::as_str).unwrap_or_default();
        if sort_key.starts_with(DEPARTMENTS) {
            departments.push(from_item::<DepartmentItem>(item)?.into());
        } else if sort_key.starts_with(AGENTS) {
            agent_ids.insert(from_item::<AgentItem>(item)?.into_agent(account_id)?.agent_id);
        }
    }
    Ok(Roster::new(agent_ids, departments))
}
