//! The accounts, agents and logins of the Directory table.
//!
//! An account always has an admin. Whoever gives or takes the role must still be an admin when the change is written:
//! the transaction checks the caller's own item, and nobody changes their own role. So of two admins who demote or
//! delete each other at the same moment one succeeds.

use crate::domain::account::{Agent, Role};
use crate::error::Error;
use crate::store::directory::items::{AccountItem, AgentItem, LoginItem};
use crate::store::directory::{Directory, MAX_ITEMS_PER_QUERY};
use crate::store::table::{EXISTS, Item, ItemUpdate, Key, Query, Refused, Values, Write, differing, n, s};
use crate::store::{from_item, to_attribute, to_item};

/// The agent is there and its deletion has not begun.
const NOT_DELETING: &str = "attribute_exists(#pk) AND attribute_not_exists(#deleting)";
/// The same, and the agent still has the e-mail that was read.
const SAME_EMAIL: &str = "attribute_not_exists(#deleting) AND #email = :known_email";
/// The login leads to this agent.
const OWN_LOGIN: &str = "#account = :account AND #agent_id = :agent_id";
/// The same, with the password that was read.
const SAME_LOGIN: &str = "#account = :account AND #agent_id = :agent_id AND #password_hash = :known_hash";

const CHANGED_MEANWHILE: Error = Error::Conflict("the agent has just been changed or deleted by somebody else");
const EMAIL_TAKEN: Error = Error::Conflict("the e-mail is taken");
const CONTENDED: Error = Error::Conflict("another change of this agent or e-mail is under way");

/// On whose authority an agent is added, changed or deleted.
#[derive(Clone, Copy, Debug)]
pub enum Authority {
    /// The operator's.
    Operator,
    /// An admin's of the same account, who must still be one where the role of somebody changes.
    Admin(u64),
}

/// What a login refers to.
#[derive(PartialEq, Eq)]
pub struct Login {
    /// The agent's account.
    pub account_id: String,
    /// The agent.
    pub agent_id: u64,
    /// See [`crate::runtime::password`].
    pub password_hash: String,
}

/// A part of a transaction and what its failed condition means, from the item as it is.
struct Step {
    write: Write,
    refusal: fn(Option<&Item>) -> Error,
}

fn account_key(account_id: &str) -> Key {
    Key::new(format!("ACCOUNT#{account_id}"), "ACCOUNT")
}

pub(in crate::store) fn agent_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(format!("ACCOUNT#{account_id}"), format!("AGENT#{agent_id:010}"))
}

/// A deleted agent, whom chats still name.
fn former_agent_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(format!("ACCOUNT#{account_id}"), format!("FORMER_AGENT#{agent_id:010}"))
}

fn login_key(email: &str) -> Key {
    Key::new(format!("LOGIN#{email}"), "LOGIN")
}

impl Directory {
    /// Opens an account with its first agent, all or nothing.
    pub async fn create_account(&self, name: &str, admin: &Agent, password_hash: &str) -> Result<(), Error> {
        let key = account_key(&admin.account_id);
        let created_at = admin.created_at.0;
        let (name, agents) = (name.to_owned(), admin.agent_id);
        let account = AccountItem { pk: key.pk, sk: key.sk, name, agents, departments: 0, created_at };
        let writes = [Write::Create(to_item(&account)?)].into_iter().chain(agent_writes(admin, password_hash)?);
        self.commit(writes.map(|write| Step { write, refusal: |_| EMAIL_TAKEN }).collect()).await
    }

    /// Whether there is such an account. One read.
    pub async fn has_account(&self, account_id: &str) -> Result<bool, Error> {
        Ok(self.table.get(account_key(account_id)).await?.is_some())
    }

    /// The next agent id of an account. One write.
    pub async fn next_agent_id(&self, account_id: &str) -> Result<u64, Error> {
        Ok(self.count(account_id, "ADD #agents :one").await?.agents)
    }

    /// Adds `:one` to a counter of an account. One write.
    pub(in crate::store) async fn count(&self, account_id: &str, update: &'static str) -> Result<AccountItem, Error> {
        let change =
            ItemUpdate { key: account_key(account_id), update, condition: EXISTS, values: vec![(":one", n(1))] };
        from_item(self.table.update(change).await?)
    }

    /// Stores a new agent with their login, all or nothing. One transaction.
    ///
    /// # Errors
    /// `Conflict` when the e-mail is taken, `Forbidden` when a caller who adds an admin is no admin any more.
    pub async fn create_agent(&self, agent: &Agent, password_hash: &str, by: Authority) -> Result<(), Error> {
        let mut steps = Vec::new();
        if agent.role == Role::Admin {
            steps.extend(caller_is_admin(&agent.account_id, by));
        }
        let new = agent_writes(agent, password_hash)?;
        steps.extend(new.map(|write| Step { write, refusal: |_| EMAIL_TAKEN }));
        self.commit(steps).await
    }

    /// An agent of the account, who must exist. One read.
    pub async fn agent_of(&self, account_id: &str, agent_id: u64) -> Result<Agent, Error> {
        self.agent(account_id, agent_id).await?.ok_or(Error::NotFound)
    }

    /// An agent of the account. One read.
    pub async fn agent(&self, account_id: &str, agent_id: u64) -> Result<Option<Agent>, Error> {
        let item = self.table.get(agent_key(account_id, agent_id)).await?;
        item.map(|item| from_item::<AgentItem>(item)?.into_agent(account_id)).transpose()
    }

    /// These agents in this order, also those who have been deleted since; at most 100, each once. A read for each, and
    /// another for each who is deleted.
    pub async fn agents_by_id(&self, account_id: &str, ids: &[u64]) -> Result<Vec<Agent>, Error> {
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

    /// The account's agents, by id. A query for each megabyte.
    pub async fn agents(&self, account_id: &str) -> Result<Vec<Agent>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account AND begins_with(#sk, :agents)",
            values: vec![(":account", s(format!("ACCOUNT#{account_id}"))), (":agents", s("AGENT#"))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        let items = self.table.query_all(query, usize::MAX).await?;
        items.into_iter().map(|item| from_item::<AgentItem>(item)?.into_agent(account_id)).collect()
    }

    /// Stores what differs between `before` and `after`; with a new e-mail or password also the login, all or nothing.
    /// One transaction, with a read before it for another e-mail.
    ///
    /// # Errors
    /// `NotFound` when the agent is gone. `Conflict` when the e-mail is taken, when the e-mail or password that the change
    /// relies on has changed since it was read, or when the agent is being deleted. `Forbidden` when a caller who changes
    /// the role is no admin any more.
    pub async fn save_agent(
        &self,
        before: &Agent,
        after: &Agent,
        password: Option<&str>,
        by: Authority,
    ) -> Result<(), Error> {
        let changed = differing(agent_values(before)?, agent_values(after)?);
        let key = agent_key(&after.account_id, after.agent_id);
        let (changes_role, has_moved) = (before.role != after.role, before.email != after.email);
        let mut steps = Vec::new();
        if changes_role {
            steps.extend(caller_is_admin(&after.account_id, by));
        }
        if !has_moved && password.is_none() {
            if !changed.is_empty() {
                let write = Write::Composed(ItemUpdate::setting(key, changed, NOT_DELETING));
                steps.push(Step { write, refusal: gone_or_changed });
            }
            return self.commit(steps).await;
        }
        let known_email = (":known_email", s(&*before.email));
        let agent = if changed.is_empty() {
            Write::Check(key, SAME_EMAIL, vec![known_email])
        } else {
            let mut change = ItemUpdate::setting(key, changed, SAME_EMAIL);
            change.values.push(known_email);
            Write::Composed(change)
        };
        steps.push(Step { write: agent, refusal: gone_or_changed });
        let owner = vec![(":account", s(&*after.account_id)), (":agent_id", n(after.agent_id))];
        let new_hash = password.map(crate::runtime::password::hash).transpose()?;
        steps.extend(if has_moved {
            self.moved_login(before, after, owner, new_hash).await?
        } else {
            let values = owner.into_iter().chain(new_hash.map(|hash| (":hash", s(hash)))).collect();
            let update = "SET #password_hash = :hash";
            let change = ItemUpdate { key: login_key(&after.email), update, condition: OWN_LOGIN, values };
            vec![Step { write: Write::ItemUpdate(change), refusal: |_| CHANGED_MEANWHILE }]
        });
        self.commit(steps).await
    }

    /// A login under another e-mail. Without a new password it takes along the one that was read, which must not be
    /// changed at the same time.
    async fn moved_login(
        &self,
        before: &Agent,
        after: &Agent,
        owner: Values,
        new_hash: Option<String>,
    ) -> Result<Vec<Step>, Error> {
        let old = login_key(&before.email);
        let (hash, leave) = match new_hash {
            Some(hash) => (hash, Write::DeleteIf(old, OWN_LOGIN, owner)),
            None => {
                let hash = self.login(&before.email).await?.ok_or(CHANGED_MEANWHILE)?.password_hash;
                let values = owner.into_iter().chain([(":known_hash", s(&*hash))]).collect();
                (hash, Write::DeleteIf(old, SAME_LOGIN, values))
            }
        };
        let take = Write::Create(to_item(&login_item(after, &hash))?);
        Ok(vec![Step { write: take, refusal: |_| EMAIL_TAKEN }, Step { write: leave, refusal: |_| CHANGED_MEANWHILE }])
    }

    /// Begins the deletion of an agent: takes away the role and the login, so that nobody signs in as them any more. May be
    /// repeated after a deletion was cut short. A transaction and a write.
    ///
    /// # Errors
    /// `Forbidden` when the caller is no admin any more, `NotFound` when the agent is gone, `Conflict` when their e-mail
    /// has changed since it was read.
    pub async fn begin_agent_deletion(&self, agent: &Agent, by: Authority) -> Result<(), Error> {
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
        let mut steps = caller_is_admin(&agent.account_id, by);
        steps.push(Step { write: Write::ItemUpdate(mark), refusal: gone_or_changed });
        self.commit(steps).await?;
        // After a deletion that was cut short the e-mail may already belong to somebody else.
        let owner = vec![(":account", s(&*agent.account_id)), (":agent_id", n(agent.agent_id))];
        self.table.delete_if(login_key(&agent.email), OWN_LOGIN, owner).await.map(|_| ())
    }

    /// Deletes an agent, last of all that is theirs: until then a repeated request finds them and goes on. Their name,
    /// e-mail and phone stay for the events of chats that they took part in. Two writes.
    pub async fn delete_agent(&self, agent: &Agent) -> Result<(), Error> {
        let mut former = to_item(&AgentItem::from(&Agent { photo: None, ..agent.clone() }))?;
        former.extend(former_agent_key(&agent.account_id, agent.agent_id).into_item());
        self.table.put(former, false).await?;
        self.table.delete(agent_key(&agent.account_id, agent.agent_id)).await.map(|_| ())
    }

    /// The login of an e-mail. One read.
    pub async fn login(&self, email: &str) -> Result<Option<Login>, Error> {
        let Some(item) = self.table.get(login_key(email)).await? else {
            return Ok(None);
        };
        let LoginItem { pk: _, sk: _, account_id, agent_id, password_hash } = from_item(item)?;
        Ok(Some(Login { account_id, agent_id, password_hash }))
    }

    async fn commit(&self, steps: Vec<Step>) -> Result<(), Error> {
        if steps.is_empty() {
            return Ok(());
        }
        let (writes, refusals): (Vec<_>, Vec<_>) = steps.into_iter().map(|step| (step.write, step.refusal)).unzip();
        match self.table.transact(writes).await {
            Ok(()) => Ok(()),
            Err(Refused::Condition { index, item }) => {
                let refusal = refusals.get(index).ok_or_else(|| Error::internal("a refusal of no step"))?;
                Err(refusal(item.as_ref()))
            }
            Err(Refused::Contended) => Err(CONTENDED),
            Err(Refused::Error(error)) => Err(error),
        }
    }
}

/// Checks that an admin on whose authority something is changed is one. The operator is not checked.
fn caller_is_admin(account_id: &str, by: Authority) -> Vec<Step> {
    let Authority::Admin(agent_id) = by else { return Vec::new() };
    let values = vec![(":admin", s(Role::Admin.name()))];
    let write = Write::Check(agent_key(account_id, agent_id), "#role = :admin", values);
    vec![Step { write, refusal: |_| Error::Forbidden("only an admin may do this") }]
}

fn gone_or_changed(found: Option<&Item>) -> Error {
    if found.is_none() { Error::NotFound } else { CHANGED_MEANWHILE }
}

fn agent_writes(agent: &Agent, password_hash: &str) -> Result<[Write; 2], Error> {
    let login = to_item(&login_item(agent, password_hash))?;
    Ok([Write::Create(to_item(&AgentItem::from(agent))?), Write::Create(login)])
}

fn agent_values(agent: &Agent) -> Result<Values, Error> {
    Ok(vec![
        (":name", s(&*agent.name)),
        (":email", s(&*agent.email)),
        (":phone", to_attribute(&agent.phone)?),
        (":photo", to_attribute(&agent.photo)?),
        (":role", s(agent.role.name())),
    ])
}

fn login_item(agent: &Agent, password_hash: &str) -> LoginItem {
    let key = login_key(&agent.email);
    let account_id = agent.account_id.clone();
    LoginItem { pk: key.pk, sk: key.sk, account_id, agent_id: agent.agent_id, password_hash: password_hash.to_owned() }
}
