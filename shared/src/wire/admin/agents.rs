//! Agents, and the account that begins with one.

use serde_json::{Value, json};

use crate::domain::account::{Agent, Role};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::MAX_NAME_CHARS;
use crate::wire::fields::Fields;

/// Characters of an e-mail address or a password.
const MAX_SHORT_TEXT_CHARS: usize = 254;

/// A person to add: what an agent has, and a password.
pub struct NewAgent {
    /// Shown to visitors.
    pub name: String,
    /// Lower case.
    pub email: String,
    /// In clear, to be hashed.
    pub password: String,
    /// For the webhooks.
    pub phone: Option<String>,
    /// Avatar address.
    pub photo: Option<String>,
    /// Agent when nothing is said.
    pub role: Role,
}

impl NewAgent {
    /// The agent they become; the password is left behind.
    pub fn into_agent(self, account_id: String, agent_id: u64, now: Timestamp) -> Agent {
        let Self { name, email, password: _, phone, photo, role } = self;
        Agent { account_id, agent_id, name, email, phone, photo, role, created_at: now }
    }
}

/// Reads POST /operator/accounts: the account's name and its first admin.
pub fn new_account(body: &Value) -> Result<(String, NewAgent), Error> {
    let body = Fields::of(body)?;
    let admin = new_agent_fields(body.object("admin")?)?;
    Ok((body.required_text("name", MAX_NAME_CHARS)?, NewAgent { role: Role::Admin, ..admin }))
}

/// Reads POST /operator/accounts/{account_id}/admins.
pub fn new_admin(body: &Value) -> Result<NewAgent, Error> {
    Ok(NewAgent { role: Role::Admin, ..new_agent(body)? })
}

/// Reads POST /admin/agents.
pub fn new_agent(body: &Value) -> Result<NewAgent, Error> {
    new_agent_fields(Fields::of(body)?)
}

fn new_agent_fields(fields: Fields<'_>) -> Result<NewAgent, Error> {
    Ok(NewAgent {
        name: fields.required_text("name", MAX_NAME_CHARS)?,
        email: email(fields)?.ok_or_else(|| fields.refuse("email", "is required"))?,
        password: password(fields)?.ok_or_else(|| fields.refuse("password", "is required"))?,
        phone: fields.text("phone", MAX_NAME_CHARS)?,
        photo: fields.url("photo")?,
        role: role(fields)?.unwrap_or(Role::Agent),
    })
}

/// Reads PATCH /admin/agents/{id}: the agent as it becomes, and a new password if one is given. A field that
/// is null is cleared where it may be empty. Last, whether their sessions must end: whenever a password or a role is
/// named, so that a request that died half-way can be repeated.
pub fn changed_agent(body: &Value, agent: &Agent) -> Result<(Agent, Option<String>, bool), Error> {
    let fields = Fields::of(body)?;
    let mut changed = agent.clone();
    if fields.has("name") {
        changed.name = fields.required_text("name", MAX_NAME_CHARS)?;
    }
    if fields.has("phone") {
        changed.phone = fields.text("phone", MAX_NAME_CHARS)?;
    }
    if fields.has("photo") {
        changed.photo = fields.url("photo")?;
    }
    changed.email = email(fields)?.unwrap_or(changed.email);
    changed.role = role(fields)?.unwrap_or(changed.role);
    let password = password(fields)?;
    let ends_sessions = password.is_some() || fields.has("role");
    Ok((changed, password, ends_sessions))
}

fn email(fields: Fields<'_>) -> Result<Option<String>, Error> {
    let Some(email) = fields.exact_text("email", MAX_SHORT_TEXT_CHARS)? else {
        return Ok(None);
    };
    let email = email.trim().to_lowercase();
    let is_address = email.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    let is_address = is_address && !email.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    if is_address { Ok(Some(email)) } else { Err(fields.refuse("email", "must be an e-mail address")) }
}

fn password(fields: Fields<'_>) -> Result<Option<String>, Error> {
    let Some(password) = fields.exact_text("password", MAX_SHORT_TEXT_CHARS)? else {
        return Ok(None);
    };
    let min_chars = crate::runtime::password::MIN_PASSWORD_CHARS;
    if password.chars().count() < min_chars {
        return Err(fields.refuse("password", format_args!("must have at least {min_chars} characters")));
    }
    Ok(Some(password))
}

fn role(fields: Fields<'_>) -> Result<Option<Role>, Error> {
    fields.one_of("role", "agent, admin", Role::parse)
}

/// An agent as admins see it.
pub fn agent(agent: &Agent) -> Value {
    let Agent { account_id: _, agent_id, name, email, phone, photo, role, created_at } = agent;
    json!({
        "agent_id": agent_id, "name": name, "email": email, "phone": phone, "photo": photo,
        "role": role.name(), "created_at": created_at.seconds(),
    })
}
