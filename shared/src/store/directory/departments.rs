//! Departments in the Directory table, and the roster: an account's agents and departments. The roster determines a
//! channel's audience (the agents who receive its chats).

use std::sync::Arc;

use crate::domain::accounts::agent::Agent;
use crate::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::accounts::department::{Audience, ChatDepartment, Department, MAX_DEPARTMENTS_PER_ACCOUNT, Roster};
use crate::domain::channels::channel::{Channel, ChannelSettings};
use crate::error::Error;
use crate::store::directory::assignment_items::{AnswerTimesItem, AssignmentRuleItem};
use crate::store::directory::audit_log::attribute_names;
use crate::store::directory::business_hours::BusinessHoursItem;
use crate::store::directory::items::{AgentItem, DepartmentItem};
use crate::store::directory::keys::{AGENT_PREFIX, DEPARTMENT_PREFIX, account_partition, department_key};
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY};
use crate::store::table::{
    ExpressionValues, ITEM_EXISTS, Item, ItemUpdate, Query, Write, WriteResult, changed_values, key_taken, s,
};
use crate::store::{from_item, to_attribute, to_item};

impl Directory {
    /// Creates a department with the account's next department id. Its members and its bot must exist.
    pub async fn create_department(&self, account_id: &str, new: Department) -> Result<Department, Error> {
        self.check_department_bot(account_id, new.bot_id.as_deref()).await?;
        let roster = self.roster(account_id).await?;
        check_ids("agent_ids", "agent", &new.agent_ids, |id| roster.has_agent(id))?;
        if roster.departments().len() >= MAX_DEPARTMENTS_PER_ACCOUNT {
            return Err(Error::Conflict("an account has at most a hundred departments"));
        }
        let department_id = self.increment_counter(account_id, "ADD #departments :one").await?.departments;
        let department = Department { department_id, ..new };
        let write = Write::Create(to_item(&DepartmentItem::new(account_id, &department))?);
        let change = audited_change(AuditAction::Created, &department);
        self.commit(account_id, vec![write], vec![change]).await.on_condition_failed(key_taken())?;
        Ok(department)
    }

    /// Reads a department. Its members may include deleted agents.
    pub async fn department(&self, account_id: &str, department_id: u64) -> Result<Option<Department>, Error> {
        let item = self.table.get(department_key(account_id, department_id)).await?;
        item.map(|item| from_item::<DepartmentItem>(item)?.try_into()).transpose()
    }

    /// Stores the changes to an existing department. Agents who are added must exist.
    pub async fn save_department(
        &self,
        account_id: &str,
        before: &Department,
        after: &Department,
    ) -> Result<(), Error> {
        let added = added_ids(&before.agent_ids, &after.agent_ids);
        if !added.is_empty() {
            let roster = self.roster(account_id).await?;
            check_ids("agent_ids", "agent", &added, |id| roster.has_agent(id))?;
        }
        if before.bot_id != after.bot_id {
            self.check_department_bot(account_id, after.bot_id.as_deref()).await?;
        }
        let changed = changed_values(department_values(before)?, department_values(after)?);
        if changed.is_empty() {
            return Ok(());
        }
        let change = audited_change(AuditAction::Changed, after).with_fields(attribute_names(&changed));
        let item_update =
            ItemUpdate::set_attributes(department_key(account_id, after.department_id), changed, ITEM_EXISTS);
        let written = self.commit(account_id, vec![Write::DynamicUpdate(item_update)], vec![change]).await;
        written.on_condition_failed(Error::NotFound)
    }

    async fn check_department_bot(&self, account_id: &str, bot_id: Option<&str>) -> Result<(), Error> {
        let Some(bot_id) = bot_id else { return Ok(()) };
        let bot = self.bot(bot_id).await?.filter(|bot| bot.account_id == account_id);
        if bot.is_some() { Ok(()) } else { Err(Error::field("bot_id", "does not exist")) }
    }

    /// Returns the bot that answers first in a new chat: that of the chat's department or else of the channel. A
    /// department's bot that was disconnected is ignored.
    pub async fn first_bot(
        &self,
        channel: &Channel,
        department: Option<&ChatDepartment>,
    ) -> Result<Option<String>, Error> {
        let of_channel = || channel.bot_id.clone();
        let Some(department) = department else { return Ok(of_channel()) };
        let roster = self.cached_roster(&channel.account_id).await?;
        let department = roster.department(department.department_id);
        let Some(bot_id) = department.and_then(|department| department.bot_id.as_deref()) else {
            return Ok(of_channel());
        };
        Ok(self.cached_bot(bot_id).await?.map(|bot| bot.bot_id.clone()).or_else(of_channel))
    }

    /// Deletes a department. Channels and chats may still refer to it, but these references are ignored (see
    /// [`crate::domain::accounts::department`]).
    pub async fn delete_department(&self, account_id: &str, department: &Department) -> Result<(), Error> {
        let key = department_key(account_id, department.department_id);
        self.delete_audited(account_id, key, audited_change(AuditAction::Deleted, department)).await
    }

    /// Reads the account's roster.
    pub async fn roster(&self, account_id: &str) -> Result<Roster, Error> {
        let (agents, departments) = self.agents_and_departments(account_id).await?;
        let roster = Roster::new(agents.iter().map(|agent| agent.agent_id).collect(), departments);
        Ok(roster.with_agent_phones(agents.into_iter().filter_map(|agent| agent.phone).collect()))
    }

    /// Returns the account's agents and departments, each sorted by id. The departments' members may include deleted
    /// agents.
    pub async fn agents_and_departments(&self, account_id: &str) -> Result<(Vec<Agent>, Vec<Department>), Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account AND #sk BETWEEN :first AND :last",
            values: vec![
                (":account", s(account_partition(account_id))),
                (":first", s(AGENT_PREFIX)),
                (":last", s(format!("{DEPARTMENT_PREFIX}~"))),
            ],
            limit: 2 * MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        agents_and_departments_from(self.table.query_all(query, usize::MAX).await?, account_id)
    }

    /// Returns the account's roster, which may be up to 10 seconds old.
    pub(crate) async fn cached_roster(&self, account_id: &str) -> Result<Arc<Roster>, Error> {
        match self.rosters.get(account_id) {
            Some(cached) => Ok(cached.unwrap_or_default()),
            None => self.fresh_roster(account_id).await,
        }
    }

    /// Reads the roster again and caches it.
    pub(crate) async fn fresh_roster(&self, account_id: &str) -> Result<Arc<Roster>, Error> {
        Ok(self.rosters.put(account_id, Some(self.roster(account_id).await?)).unwrap_or_default())
    }

    /// Returns the channel's audience, which may be up to 10 seconds old.
    pub async fn audience(&self, channel: &Channel) -> Result<Audience, Error> {
        if !channel.settings.has_limited_audience() {
            return Ok(Audience::AllAgents);
        }
        Ok(self.cached_roster(&channel.account_id).await?.audience(&channel.settings))
    }

    /// Returns the department that new chats belong to if their channel names exactly one; otherwise, returns `None`.
    pub async fn default_department(&self, channel: &Channel) -> Result<Option<ChatDepartment>, Error> {
        if channel.settings.department_ids.len() != 1 {
            return Ok(None);
        }
        Ok(self.cached_roster(&channel.account_id).await?.default_department(&channel.settings))
    }

    /// Fails if a channel's new settings add agents or departments that do not exist.
    pub async fn check_audience_ids(
        &self,
        account_id: &str,
        before: Option<&ChannelSettings>,
        after: &ChannelSettings,
    ) -> Result<(), Error> {
        let agents = added_ids(before.map_or(&[], |before| &before.agent_ids), &after.agent_ids);
        let departments = added_ids(before.map_or(&[], |before| &before.department_ids), &after.department_ids);
        if agents.is_empty() && departments.is_empty() {
            return Ok(());
        }
        let roster = self.roster(account_id).await?;
        check_ids("agent_ids", "agent", &agents, |id| roster.has_agent(id))?;
        check_ids("department_ids", "department", &departments, |id| roster.department(id).is_some())
    }
}

fn audited_change(action: AuditAction, department: &Department) -> AuditedChange {
    AuditedChange::named(action, AuditedKind::Department, department.department_id.to_string(), &department.name)
}

fn department_values(department: &Department) -> Result<ExpressionValues, Error> {
    Ok(vec![
        (":name", s(&*department.name)),
        (":agent_ids", to_attribute(&department.agent_ids)?),
        (":bot_id", to_attribute(&department.bot_id)?),
        (":business_hours", to_attribute(&department.business_hours.as_ref().map(BusinessHoursItem::from))?),
        (":assignment", to_attribute(&department.assignment.map(AssignmentRuleItem::from))?),
        (":answer_times", to_attribute(&department.answer_times.map(AnswerTimesItem::from))?),
    ])
}

/// Returns the ids in `after` that are not in `before`. Only these ids are checked: an agent or department that was
/// already listed may have been deleted since, and this must not block other changes.
fn added_ids(before: &[u64], after: &[u64]) -> Vec<u64> {
    after.iter().filter(|id| !before.contains(id)).copied().collect()
}

fn check_ids(field: &str, kind: &str, ids: &[u64], exists: impl Fn(u64) -> bool) -> Result<(), Error> {
    match ids.iter().find(|id| !exists(**id)) {
        None => Ok(()),
        Some(id) => Err(Error::field(field, format_args!("names {kind} {id}, which does not exist"))),
    }
}

fn agents_and_departments_from(items: Vec<Item>, account_id: &str) -> Result<(Vec<Agent>, Vec<Department>), Error> {
    let (mut agents, mut departments) = (Vec::new(), Vec::new());
    for item in items {
        let sort_key = item.get("sk").and_then(|key| key.as_s().ok()).map(String::as_str).unwrap_or_default();
        if sort_key.starts_with(DEPARTMENT_PREFIX) {
            departments.push(from_item::<DepartmentItem>(item)?.try_into()?);
        } else if sort_key.starts_with(AGENT_PREFIX) {
            agents.push(from_item::<AgentItem>(item)?.into_agent(account_id)?);
        }
    }
    Ok((agents, departments))
}
