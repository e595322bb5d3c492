//! Accounts, agents and logins in the Directory table.
//!
//! An account always has an admin. The callers ensure that agents do not change their own role, and the transaction
//! that grants or removes the admin role checks that the caller is still an admin. Therefore, if two admins demote or
//! delete each other concurrently, only one of them succeeds.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::accounts::agent::{Agent, Role};
use crate::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::accounts::password_policy::{NewPassword, PasswordHash};
use crate::error::Error;
use crate::store::directory::audit_log::attribute_names;
use crate::store::directory::items::{AccountItem, AgentItem, LoginItem, OPERATOR_ACCOUNT_ID};
use crate::store::directory::keys::{
    AGENT_PREFIX, account_key, account_partition, agent_key, former_agent_key, login_key,
};
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY};
use crate::store::table::{
    ExpressionValues, ITEM_EXISTS, Item, ItemUpdate, Key, Query, Write, WriteError, WriteResult, changed_values, n, s,
};
use crate::store::{from_item, to_attribute, to_item};

const EXISTS_AND_NOT_DELETING: &str = "attribute_exists(#pk) AND attribute_not_exists(#deleting)";
/// Also requires that the agent is not being deleted.
const UNCHANGED_EMAIL: &str = "attribute_not_exists(#deleting) AND #email = :known_email";
const LOGIN_OF_AGENT: &str = "#account = :account AND #agent_id = :agent_id";
const UNCHANGED_LOGIN: &str = "#account = :account AND #agent_id = :agent_id AND #password_hash = :known_hash";

const AGENT_CHANGED: Error = Error::Conflict("the agent was changed or deleted by another request");
const EMAIL_TAKEN: Error = Error::Conflict("the e-mail is taken");
const AGENT_CONTENDED: Error = Error::Conflict("another change of this agent or e-mail is in progress");

/// The caller who creates, changes or deletes an agent.
#[derive(Clone, Copy, Debug)]
pub enum Authority {
    Operator,
    /// An agent of the same account. If the change affects a role or deletes an agent, the caller must still be an
    /// admin when the change is written.
    Admin(u64),
}

/// The agent and the password hash that belong to an e-mail address.
#[derive(PartialEq, Eq)]
pub struct Login {
    pub account_id: String,
    pub agent_id: u64,
    /// Computed by [`crate::runtime::password`].
    pub password_hash: String,
    /// Whether the agent must replace the password before any other request.
    pub must_change_password: bool,
}

/// One write in a transaction, together with a function that is called if the write's condition fails. The function
/// receives the stored item, if there is one, and returns the error to report.
struct TransactionStep {
    write: Write,
    condition_error: fn(Option<&Item>) -> Error,
}

impl Directory {
    pub async fn create_account(&self, name: &str, admin: &Agent, password: &PasswordHash) -> Result<(), Error> {
        let key = account_key(&admin.account_id);
        let created_at = admin.created_at.0;
        let (name, agents) = (name.to_owned(), admin.agent_id);
        let account = AccountItem {
            pk: key.pk,
            sk: key.sk,
            name,
            agents,
            departments: 0,
            created_at,
            account_id: Some(OPERATOR_ACCOUNT_ID.to_owned()),
            suspended_at: None,
            deleting_since: None,
        };
        let writes = [Write::Create(to_item(&account)?)].into_iter().chain(agent_writes(admin, password)?);
        let steps = writes.map(|write| TransactionStep { write, condition_error: |_| EMAIL_TAKEN }).collect();
        let created = AuditedChange::named(AuditAction::Created, AuditedKind::Account, "", &account.name);
        self.commit_steps(&admin.account_id, steps, vec![created]).await
    }

    /// Fails with `NotFound` if the account does not exist.
    pub async fn account_name(&self, account_id: &str) -> Result<String, Error> {
        let item = self.table.get(account_key(account_id)).await?;
        Ok(from_item::<AccountItem>(item.ok_or(Error::NotFound)?)?.name)
    }

    /// Assigns the account's next agent id.
    pub async fn next_agent_id(&self, account_id: &str) -> Result<u64, Error> {
        Ok(self.increment_counter(account_id, "ADD #agents :one").await?.agents)
    }

    /// Applies `update`, an update expression that increments one of the account's counters. In the expression, `:one`
    /// stands for 1.
    pub(super) async fn increment_counter(&self, account_id: &str, update: &'static str) -> Result<AccountItem, Error> {
        let item_update =
            ItemUpdate { key: account_key(account_id), update, condition: ITEM_EXISTS, values: vec![(":one", n(1))] };
        from_item(self.table.update(item_update).await.on_condition_failed(Error::NotFound)?)
    }

    /// Stores a new agent and their login in one transaction.
    ///
    /// # Errors
    /// Fails with `Conflict` if the e-mail address is taken, and with `Forbidden` if the caller adds an admin but is no
    /// longer an admin.
    pub async fn create_agent(&self, agent: &Agent, password: &PasswordHash, by: Authority) -> Result<(), Error> {
        let mut steps = Vec::new();
        if agent.role == Role::Admin {
            steps.extend(require_admin(&agent.account_id, by));
        }
        let new = agent_writes(agent, password)?;
        steps.extend(new.map(|write| TransactionStep { write, condition_error: |_| EMAIL_TAKEN }));
        self.commit_steps(&agent.account_id, steps, vec![audited_change(AuditAction::Created, agent)]).await
    }

    /// Fails with `NotFound` if the agent does not exist.
    pub async fn agent_of_account(&self, account_id: &str, agent_id: u64) -> Result<Agent, Error> {
        self.agent(account_id, agent_id).await?.ok_or(Error::NotFound)
    }

    pub async fn agent(&self, account_id: &str, agent_id: u64) -> Result<Option<Agent>, Error> {
        let item = self.table.get(agent_key(account_id, agent_id)).await?;
        item.map(|item| from_item::<AgentItem>(item)?.into_agent(account_id)).transpose()
    }

    /// Returns the agents with these ids in the order of `ids`, including deleted agents. `ids` must contain at most
    /// 100 ids and no duplicates.
    pub(crate) async fn agents_by_id(&self, account_id: &str, ids: &[u64]) -> Result<Vec<Agent>, Error> {
        let mut found = self.agents_at(account_id, ids, agent_key).await?;
        let is_missing = |id: &&u64| found.iter().all(|agent| agent.agent_id != **id);
        let missing: Vec<u64> = ids.iter().filter(is_missing).copied().collect();
        found.extend(self.agents_at(account_id, &missing, former_agent_key).await?);
        found.sort_by_key(|agent| ids.iter().position(|id| *id == agent.agent_id));
        Ok(found)
    }

    async fn agents_at(&self, account_id: &str, ids: &[u64], key: fn(&str, u64) -> Key) -> Result<Vec<Agent>, Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let items = self.table.batch_get(ids.iter().map(|id| key(account_id, *id)).collect()).await?;
        items.into_iter().map(|item| from_item::<AgentItem>(item)?.into_agent(account_id)).collect()
    }

    /// Returns the account's agents, sorted by id.
    pub async fn agents(&self, account_id: &str) -> Result<Vec<Agent>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account AND begins_with(#sk, :agents)",
            values: vec![(":account", s(account_partition(account_id))), (":agents", s(AGENT_PREFIX))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        let items = self.table.query_all(query, usize::MAX).await?;
        items.into_iter().map(|item| from_item::<AgentItem>(item)?.into_agent(account_id)).collect()
    }

    /// Stores the differences between `before` and `after`, and also the login if the e-mail address or the password
    /// changes. All writes are made in one transaction.
    ///
    /// # Errors
    /// Fails with `NotFound` if the agent does not exist. Fails with `Conflict` if the e-mail address is taken, if the
    /// e-mail address or the password has changed since it was read, or if the agent is being deleted. Fails with
    /// `Forbidden` if the caller changes the role but is no longer an admin.
    pub async fn save_agent(
        &self,
        before: &Agent,
        after: &Agent,
        password: Option<&NewPassword>,
        by: Authority,
    ) -> Result<(), Error> {
        let changed = changed_values(agent_values(before)?, agent_values(after)?);
        let key = agent_key(&after.account_id, after.agent_id);
        let fields = attribute_names(&changed).into_iter().chain(password.map(|_| "password".to_owned()));
        let audited = vec![audited_change(AuditAction::Changed, after).with_fields(fields)];
        let (changes_role, changes_email) = (before.role != after.role, before.email != after.email);
        let mut steps = Vec::new();
        if changes_role {
            steps.extend(require_admin(&after.account_id, by));
        }
        if !changes_email && password.is_none() {
            if !changed.is_empty() {
                let write = Write::DynamicUpdate(ItemUpdate::set_attributes(key, changed, EXISTS_AND_NOT_DELETING));
                steps.push(TransactionStep { write, condition_error: not_found_or_changed });
            }
            return self.commit_steps(&after.account_id, steps, audited).await;
        }
        let known_email = (":known_email", s(&*before.email));
        let agent = if changed.is_empty() {
            Write::Check(key, UNCHANGED_EMAIL, vec![known_email])
        } else {
            let mut item_update = ItemUpdate::set_attributes(key, changed, UNCHANGED_EMAIL);
            item_update.values.push(known_email);
            Write::DynamicUpdate(item_update)
        };
        steps.push(TransactionStep { write: agent, condition_error: not_found_or_changed });
        let owner = vec![(":account", s(&*after.account_id)), (":agent_id", n(after.agent_id))];
        let new_hash = password.map(crate::runtime::password::hash_new).transpose()?;
        steps.extend(if changes_email {
            self.replace_login(before, after, owner, new_hash).await?
        } else {
            new_hash.map(|hash| set_password(&after.email, &hash, LOGIN_OF_AGENT, owner)).into_iter().collect()
        });
        self.commit_steps(&after.account_id, steps, audited).await
    }

    /// Returns the steps that replace the old e-mail address's login with one for the new address. Without a new
    /// password, the new login keeps the current password hash, and the transaction fails if that hash has changed.
    async fn replace_login(
        &self,
        before: &Agent,
        after: &Agent,
        owner: ExpressionValues,
        new_hash: Option<PasswordHash>,
    ) -> Result<Vec<TransactionStep>, Error> {
        let old = login_key(&before.email);
        let (hash, delete_old) = match new_hash {
            Some(hash) => (hash, Write::DeleteIf(old, LOGIN_OF_AGENT, owner)),
            None => {
                let login = self.login(&before.email).await?.ok_or(AGENT_CHANGED)?;
                let values = owner.into_iter().chain([(":known_hash", s(&*login.password_hash))]).collect();
                let hash = PasswordHash { text: login.password_hash, must_change: login.must_change_password };
                (hash, Write::DeleteIf(old, UNCHANGED_LOGIN, values))
            }
        };
        let create_new = Write::Create(to_item(&login_item(after, &hash))?);
        Ok(vec![
            TransactionStep { write: create_new, condition_error: |_| EMAIL_TAKEN },
            TransactionStep { write: delete_old, condition_error: |_| AGENT_CHANGED },
        ])
    }

    /// Replaces an agent's own password. `known` is the login against which the current password was verified. Fails
    /// with `Conflict` if the login has changed in the meantime.
    pub async fn change_own_password(&self, agent: &Agent, known: &Login, new: &PasswordHash) -> Result<(), Error> {
        let values = vec![
            (":account", s(&*agent.account_id)),
            (":agent_id", n(agent.agent_id)),
            (":known_hash", s(&*known.password_hash)),
        ];
        let step = set_password(&agent.email, new, UNCHANGED_LOGIN, values);
        let change = audited_change(AuditAction::Changed, agent).with_fields(["password"]);
        self.commit_steps(&agent.account_id, vec![step], vec![change]).await
    }

    /// Starts the deletion of an agent. Removes the admin role and the login, so that the agent cannot sign in. An
    /// interrupted deletion can be repeated.
    ///
    /// # Errors
    /// Fails with `Forbidden` if the caller is no longer an admin, with `NotFound` if the agent does not exist, and
    /// with `Conflict` if the agent's e-mail address has changed since it was read.
    pub async fn start_agent_deletion(&self, agent: &Agent, by: Authority) -> Result<(), Error> {
        let mark = ItemUpdate {
            key: agent_key(&agent.account_id, agent.agent_id),
            update: "SET #deleting = :true, #role = :role",
            condition: "#email = :known_email",
            values: vec![
                (":true", to_attribute(&true)?),
                (":role", s(Role::Agent.name())),
                (":known_email", s(&*agent.email)),
            ],
        };
        let mut steps = require_admin(&agent.account_id, by);
        steps.push(TransactionStep { write: Write::Update(mark), condition_error: not_found_or_changed });
        self.commit_steps(&agent.account_id, steps, Vec::new()).await?;
        // Delete the login only if it belongs to this agent: after an interrupted deletion, another agent may already
        // use the e-mail address.
        let owner = vec![(":account", s(&*agent.account_id)), (":agent_id", n(agent.agent_id))];
        self.table.delete_if(login_key(&agent.email), LOGIN_OF_AGENT, owner).await.map(|_| ())
    }

    /// Deletes the agent's item. This must be the last step of the deletion, so that a repeated request still finds the
    /// agent and can continue. The name, e-mail address and phone number are kept for events about the agent's chats.
    pub async fn delete_agent(&self, agent: &Agent) -> Result<(), Error> {
        let mut former = to_item(&AgentItem::from(&Agent { photo: None, ..agent.clone() }))?;
        former.extend(former_agent_key(&agent.account_id, agent.agent_id).into_item());
        self.table.put(former, false).await.unconditional()?;
        let key = agent_key(&agent.account_id, agent.agent_id);
        self.delete_audited(&agent.account_id, key, audited_change(AuditAction::Deleted, agent)).await
    }

    pub async fn login(&self, email: &str) -> Result<Option<Login>, Error> {
        let Some(item) = self.table.get(login_key(email)).await? else {
            return Ok(None);
        };
        let LoginItem { pk: _, sk: _, account_id, agent_id, password_hash, must_change_password } = from_item(item)?;
        Ok(Some(Login { account_id, agent_id, password_hash, must_change_password }))
    }

    /// Executes the steps in one transaction, which also records the changes in the audit log. Does nothing if there
    /// are no steps.
    async fn commit_steps(
        &self,
        account_id: &str,
        steps: Vec<TransactionStep>,
        changes: Vec<AuditedChange>,
    ) -> Result<(), Error> {
        if steps.is_empty() {
            return Ok(());
        }
        let (writes, condition_errors): (Vec<_>, Vec<_>) =
            steps.into_iter().map(|step| (step.write, step.condition_error)).unzip();
        match self.commit(account_id, writes, changes).await {
            Ok(()) => Ok(()),
            Err(WriteError::ConditionFailed { index, item }) => {
                let to_error =
                    condition_errors.get(index).ok_or_else(|| Error::internal("unknown transaction step"))?;
                Err(to_error(item.as_ref()))
            }
            Err(WriteError::Contended) => Err(AGENT_CONTENDED),
            Err(WriteError::Error(error)) => Err(error),
        }
    }
}

/// Returns the step that checks that the caller is an admin. Returns no step if the caller is the operator.
fn require_admin(account_id: &str, by: Authority) -> Vec<TransactionStep> {
    let Authority::Admin(agent_id) = by else { return Vec::new() };
    let values = vec![(":admin", s(Role::Admin.name()))];
    let write = Write::Check(agent_key(account_id, agent_id), "#role = :admin", values);
    vec![TransactionStep { write, condition_error: |_| Error::Forbidden("only an admin may do this") }]
}

fn audited_change(action: AuditAction, agent: &Agent) -> AuditedChange {
    AuditedChange::named(action, AuditedKind::Agent, agent.agent_id.to_string(), &agent.name)
}

fn not_found_or_changed(found: Option<&Item>) -> Error {
    if found.is_none() { Error::NotFound } else { AGENT_CHANGED }
}

fn agent_writes(agent: &Agent, password: &PasswordHash) -> Result<[Write; 2], Error> {
    let login = to_item(&login_item(agent, password))?;
    Ok([Write::Create(to_item(&AgentItem::from(agent))?), Write::Create(login)])
}

/// Returns the step that replaces the password of a login that meets the condition.
fn set_password(
    email: &str,
    new: &PasswordHash,
    condition: &'static str,
    mut values: ExpressionValues,
) -> TransactionStep {
    values.push((":hash", s(&*new.text)));
    let update = if new.must_change {
        values.push((":must_change", AttributeValue::Bool(true)));
        "SET #password_hash = :hash, #must_change_password = :must_change"
    } else {
        "SET #password_hash = :hash REMOVE #must_change_password"
    };
    let item_update = ItemUpdate { key: login_key(email), update, condition, values };
    TransactionStep { write: Write::Update(item_update), condition_error: |_| AGENT_CHANGED }
}

fn agent_values(agent: &Agent) -> Result<ExpressionValues, Error> {
    Ok(vec![
        (":name", s(&*agent.name)),
        (":email", s(&*agent.email)),
        (":phone", to_attribute(&agent.phone)?),
        (":photo", to_attribute(&agent.photo)?),
        (":role", s(agent.role.name())),
        (":capacity", to_attribute(&agent.capacity)?),
    ])
}

fn login_item(agent: &Agent, password: &PasswordHash) -> LoginItem {
    let Key { pk, sk } = login_key(&agent.email);
    LoginItem {
        pk,
        sk,
        account_id: agent.account_id.clone(),
        agent_id: agent.agent_id,
        password_hash: password.text.clone(),
        must_change_password: password.must_change,
    }
}
