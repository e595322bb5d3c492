//! Request and response bodies of the endpoints that manage agents and create accounts. An account is created together
//! with its first admin.

use serde_json::{Value, json};

use crate::domain::agent::{Agent, Role};
use crate::domain::password_policy::{NewPassword, check_new_password};
use crate::domain::phone_number;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::MAX_NAME_CHARS;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::with_fields;

const MAX_EMAIL_CHARS: usize = 254;
/// Long enough that the rules for passwords report a password that is too long.
const MAX_PASSWORD_FIELD_CHARS: usize = 10_000;

/// The change that the body of PATCH /admin/agents/{agent_id} describes.
pub struct AgentChange {
    pub agent: Agent,
    pub password: Option<NewPassword>,
    /// Whether the agent's sessions must end.
    pub ends_sessions: bool,
}

pub struct NewAgent {
    pub name: String,
    /// The e-mail address, in lower case.
    pub email: String,
    pub password: NewPassword,
    pub phone: Option<String>,
    /// The URL of the picture that visitors see.
    pub photo: Option<String>,
    pub role: Role,
}

impl NewAgent {
    pub fn into_agent(self, account_id: String, agent_id: u64, now: Timestamp) -> Agent {
        let Self { name, email, password: _, phone, photo, role } = self;
        Agent { account_id, agent_id, name, email, phone, photo, role, created_at: now }
    }
}

/// Parses the body of POST /operator/accounts. Returns the name of the account and its first admin.
pub fn parse_new_account(body: &Value) -> Result<(String, NewAgent), Error> {
    let body = Fields::of(body)?;
    let admin = parse_new_agent_fields(body.object("admin")?)?;
    Ok((body.required_text("name", MAX_NAME_CHARS)?, NewAgent { role: Role::Admin, ..admin }))
}

/// Parses the body of POST /operator/accounts/{account_id}/admins.
pub fn parse_new_admin(body: &Value) -> Result<NewAgent, Error> {
    Ok(NewAgent { role: Role::Admin, ..parse_new_agent(body)? })
}

/// Parses the body of POST /admin/agents.
pub fn parse_new_agent(body: &Value) -> Result<NewAgent, Error> {
    parse_new_agent_fields(Fields::of(body)?)
}

fn parse_new_agent_fields(fields: Fields<'_>) -> Result<NewAgent, Error> {
    let email = parse_email(fields)?.ok_or_else(|| fields.invalid("email", "is required"))?;
    let password = parse_password(fields, &email)?.ok_or_else(|| fields.invalid("password", "is required"))?;
    Ok(NewAgent {
        name: fields.required_text("name", MAX_NAME_CHARS)?,
        email,
        password,
        phone: parse_phone(fields)?,
        photo: fields.url("photo")?,
        role: parse_role(fields)?.unwrap_or(Role::Agent),
    })
}

/// Parses the body of PATCH /admin/agents/{agent_id}. Null clears the phone number or the photo. The sessions end if
/// the body contains a password, an e-mail address or a role, even if the value is unchanged, so that a request that
/// failed halfway can be repeated.
pub fn apply_agent_patch(body: &Value, agent: &Agent) -> Result<AgentChange, Error> {
    let fields = Fields::of(body)?;
    let mut changed = agent.clone();
    if fields.has("name") {
        changed.name = fields.required_text("name", MAX_NAME_CHARS)?;
    }
    if fields.has("phone") {
        changed.phone = parse_phone(fields)?;
    }
    if fields.has("photo") {
        changed.photo = fields.url("photo")?;
    }
    changed.email = parse_email(fields)?.unwrap_or(changed.email);
    changed.role = parse_role(fields)?.unwrap_or(changed.role);
    let password = parse_password(fields, &changed.email)?;
    if password.is_none() && fields.boolean("must_change_password")?.is_some() {
        return Err(fields.invalid("must_change_password", "needs a new password"));
    }
    let ends_sessions = password.is_some() || fields.value("email").is_some() || fields.has("role");
    Ok(AgentChange { agent: changed, password, ends_sessions })
}

fn parse_email(fields: Fields<'_>) -> Result<Option<String>, Error> {
    let email = fields.text_or_blank("email", MAX_EMAIL_CHARS)?;
    email.map(|email| Ok(fields.email_address("email", &email)?.to_lowercase())).transpose()
}

/// Parses the number at which an agent answers calls. An impossible number would fail only when a visitor calls.
fn parse_phone(fields: Fields<'_>) -> Result<Option<String>, Error> {
    match fields.text("phone", MAX_NAME_CHARS)? {
        Some(phone) if !phone_number::is_possible(&phone) => {
            Err(fields.invalid("phone", "must be a phone number, such as +31 20 123 4567"))
        }
        phone => Ok(phone),
    }
}

fn parse_password(fields: Fields<'_>, email: &str) -> Result<Option<NewPassword>, Error> {
    let Some(text) = fields.text_or_blank("password", MAX_PASSWORD_FIELD_CHARS)? else {
        return Ok(None);
    };
    check_new_password(&text, Some(email)).map_err(|reason| fields.invalid("password", reason))?;
    Ok(Some(NewPassword { text, must_change: fields.boolean("must_change_password")?.unwrap_or(false) }))
}

fn parse_role(fields: Fields<'_>) -> Result<Option<Role>, Error> {
    fields.enumerated("role", "agent, admin", Role::parse)
}

/// Returns an agent with the time of the agent's last request, or with null if no presence of the agent is stored.
pub fn agent_with_last_seen_json(agent: &Agent, last_seen_at: Option<Timestamp>) -> Value {
    with_fields(agent_json(agent), [("last_seen_at", json!(last_seen_at.map(Timestamp::seconds)))])
}

pub fn agent_json(agent: &Agent) -> Value {
    let Agent { account_id: _, agent_id, name, email, phone, photo, role, created_at } = agent;
    json!({
        "agent_id": agent_id, "name": name, "email": email, "phone": phone, "photo": photo,
        "role": role.name(), "created_at": created_at.seconds(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::sample_data;

    #[test]
    fn impossible_phone_number_of_an_agent_is_refused() {
        let agent = sample_data::agent(Timestamp(0));
        let phone_after = |body: Value| apply_agent_patch(&body, &agent).map(|change| change.agent.phone);
        assert_eq!(phone_after(json!({ "phone": "06-12345678" })).unwrap().unwrap(), "06-12345678");
        assert_eq!(phone_after(json!({ "phone": null })).unwrap(), None);
        for phone in ["123", "+999 12345678", "call me"] {
            let error = phone_after(json!({ "phone": phone })).unwrap_err().to_string();
            assert!(error.starts_with("phone must be a phone number"), "{error}");
        }
    }
}
