//! The /admin/agents endpoints: bodies and operations. An account is created together with its first admin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::accounts::agent::{self, Role};
use crate::domain::accounts::password_policy::{NewPassword, PASSWORD_CHARS, check_new_password};
use crate::domain::calls::phone_number;
use crate::domain::text::email_address;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::MAX_NAME_CHARS;
use crate::wire::admin::assignment::Capacity;
use crate::wire::fields::urls::{WebUrl, WebUrlOrBlank};
use crate::wire::fields::values::{
    AnyText, Change, Name, NotNull, Optional, OptionalText, SequentialNumber, Text, True, UnixSeconds, Whole,
};

const MAX_EMAIL_CHARS: usize = 254;
/// Long enough that the rules for passwords report a password that is too long.
const MAX_PASSWORD_FIELD_CHARS: usize = 10_000;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/agents", "agents", "Lists the agents of the account")
            .describe("With the time at which each was last seen.")
            .answers::<Agents>(200, "The agents."),
        Operation::post("/admin/agents", "createAgent", "Adds an agent")
            .describe(
                "The e-mail address must not belong to an agent of any account. Tell the agent the password; the agent \
                 can change it.",
            )
            .body::<NewAgent>()
            .answers::<Agent>(201, "The agent.")
            .fails(&[Failure::Conflict]),
        Operation::get("/admin/agents/{agent_id}", "agent", "Reads an agent")
            .describe("`last_seen_at` is null for an agent who has never signed in.")
            .answers::<AgentWithLastSeen>(200, "The agent."),
        Operation::patch("/admin/agents/{agent_id}", "changeAgent", "Changes an agent")
            .describe(
                "A new password, e-mail address or role ends the agent's sessions. Admins cannot change their own \
                 role. The response is also 409 if the e-mail address or the password was changed concurrently.",
            )
            .body::<AgentChanges>()
            .answers::<Agent>(200, "The agent.")
            .fails(&[Failure::Conflict]),
        Operation::delete(
            "/admin/agents/{agent_id}",
            "deleteAgent",
            "Deletes an agent and returns their chats to waiting",
        )
        .describe("Admins cannot delete themselves. The request can be repeated after an error.")
        .answers::<DeletedAgent>(200, "The agent is deleted.")
        .fails(&[Failure::Conflict]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct NewAgent {
    name: Text<MAX_NAME_CHARS>,
    email: Email,
    password: Password,
    #[serde(default)]
    phone: AgentPhone,
    #[serde(default)]
    photo: WebUrlOrBlank,
    #[schemars(extend("default" = "agent"))]
    role: Option<Name<Role>>,
    /// The number of chats that the agent can have at a time. Absent or null: that of the account.
    capacity: Option<Capacity>,
    /// Whether the agent must replace the password before anything else. Until then, other requests get 403
    /// password_change_required.
    #[schemars(extend("default" = false))]
    must_change_password: Option<bool>,
}

/// The data of a new agent, with a password that the rules allow.
pub struct AgentWithPassword {
    pub name: String,
    /// The e-mail address, in lower case.
    pub email: String,
    pub password: NewPassword,
    pub phone: Option<String>,
    /// The URL of the picture that visitors see.
    pub photo: Option<String>,
    pub role: Role,
    pub capacity: Option<u32>,
}

impl NewAgent {
    pub fn checked(self) -> Result<AgentWithPassword, Error> {
        let role = self.role.map_or(Role::Agent, |Name(role)| role);
        self.checked_with_role(role, "password")
    }

    /// The new agent is an admin, whatever role the body names. `password_field` is the path of the password.
    pub fn checked_admin(self, password_field: &str) -> Result<AgentWithPassword, Error> {
        self.checked_with_role(Role::Admin, password_field)
    }

    fn checked_with_role(self, role: Role, password_field: &str) -> Result<AgentWithPassword, Error> {
        let Self {
            name: Text(name), email: Email(email), password, phone, photo, capacity, must_change_password, ..
        } = self;
        let password = password.checked(password_field, &email, must_change_password)?;
        let capacity = capacity.map(Whole::to_u32);
        Ok(AgentWithPassword { name, email, password, phone: phone.0, photo: photo.0, role, capacity })
    }
}

impl AgentWithPassword {
    pub fn into_agent(self, account_id: String, agent_id: u64, now: Timestamp) -> agent::Agent {
        let Self { name, email, password: _, phone, photo, role, capacity } = self;
        agent::Agent { account_id, agent_id, name, email, phone, photo, role, capacity, created_at: now }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct AgentChanges {
    #[serde(default)]
    name: NotNull<Text<MAX_NAME_CHARS>>,
    email: Option<Email>,
    password: Option<Password>,
    #[serde(default)]
    phone: Change<AgentPhone>,
    #[serde(default)]
    photo: Change<WebUrlOrBlank>,
    role: Option<Name<Role>>,
    /// Null: that of the account.
    #[serde(default)]
    capacity: Change<Capacity>,
    /// Whether the agent must replace the new password before anything else. Only together with password.
    must_change_password: Option<bool>,
}

/// The change that a body of PATCH describes.
pub struct AgentChange {
    pub agent: agent::Agent,
    pub password: Option<NewPassword>,
    /// Whether the agent's sessions must end.
    pub ends_sessions: bool,
}

impl AgentChanges {
    /// Returns the changed agent. The sessions end if the body contains a password, an e-mail address or a role, even
    /// if the value is unchanged, so that a request that failed halfway can be repeated.
    pub fn applied_to(self, agent: &agent::Agent) -> Result<AgentChange, Error> {
        let Self { name, email, password, phone, photo, role, capacity, must_change_password } = self;
        let ends_sessions = password.is_some() || email.is_some() || role.is_some();
        let mut changed = agent.clone();
        changed.name = name.0.map_or(changed.name, |Text(name)| name);
        changed.phone = phone.map(|AgentPhone(phone)| phone).flatten().applied_to(changed.phone);
        changed.photo = photo.map(|WebUrlOrBlank(photo)| photo).flatten().applied_to(changed.photo);
        changed.email = email.map_or(changed.email, |Email(email)| email);
        changed.capacity = capacity.map(Whole::to_u32).applied_to(changed.capacity);
        changed.role = role.map_or(changed.role, |Name(role)| role);
        if password.is_none() && must_change_password.is_some() {
            return Err(Error::field("must_change_password", "needs a new password"));
        }
        let password = password.map(|password| password.checked("password", &changed.email, must_change_password));
        Ok(AgentChange { agent: changed, password: password.transpose()?, ends_sessions })
    }
}

/// Compared in lower case.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "AnyText<MAX_EMAIL_CHARS>")]
#[schemars(with = "AnyText<MAX_EMAIL_CHARS>", extend("format" = "email", "minLength" = 3))]
pub struct Email(String);

impl TryFrom<AnyText<MAX_EMAIL_CHARS>> for Email {
    type Error = &'static str;

    fn try_from(AnyText(text): AnyText<MAX_EMAIL_CHARS>) -> Result<Self, Self::Error> {
        let address = email_address::parse(&text).ok_or("must be an e-mail address")?;
        Ok(Self(address.to_lowercase()))
    }
}

/// Control characters, blanks only, and common or repetitive passwords are refused. It must not be the e-mail address.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "String", extend("minLength" = PASSWORD_CHARS.start(), "maxLength" = PASSWORD_CHARS.end()))]
pub struct Password(AnyText<MAX_PASSWORD_FIELD_CHARS>);

impl Password {
    fn checked(self, field: &str, email: &str, must_change: Option<bool>) -> Result<NewPassword, Error> {
        let Self(AnyText(text)) = self;
        check_new_password(&text, Some(email)).map_err(|reason| Error::field(field, reason))?;
        Ok(NewPassword { text, must_change: must_change.unwrap_or(false) })
    }
}

/// The number at which the agent answers calls, preferably with the country code. A number that nobody can have is
/// rejected.
// An impossible number would fail only when a visitor calls.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(try_from = "OptionalText<MAX_NAME_CHARS>")]
#[schemars(with = "OptionalText<MAX_NAME_CHARS>", inline)]
struct AgentPhone(Option<String>);

impl TryFrom<OptionalText<MAX_NAME_CHARS>> for AgentPhone {
    type Error = &'static str;

    fn try_from(OptionalText(phone): OptionalText<MAX_NAME_CHARS>) -> Result<Self, Self::Error> {
        if phone.as_ref().is_some_and(|phone| !phone_number::is_possible(phone)) {
            return Err("must be a phone number, such as +31 20 123 4567");
        }
        Ok(Self(phone))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Agents {
    pub agents: Vec<AgentWithLastSeen>,
}

#[derive(Serialize, JsonSchema)]
pub struct Agent {
    agent_id: SequentialNumber,
    name: String,
    email: String,
    phone: Option<String>,
    photo: Option<WebUrl>,
    role: Name<Role>,
    /// The number of chats that the agent can have at a time. Absent: that of the account.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    capacity: Optional<u32>,
    created_at: UnixSeconds,
}

impl Agent {
    pub fn new(agent: &agent::Agent) -> Self {
        let agent::Agent { account_id: _, agent_id, name, email, phone, photo, role, capacity, created_at } =
            agent.clone();
        let (agent_id, photo, capacity) = (SequentialNumber(agent_id), photo.map(WebUrl), Optional(capacity));
        Self { agent_id, name, email, phone, photo, role: Name(role), capacity, created_at: created_at.into() }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct AgentWithLastSeen {
    #[serde(flatten)]
    agent: Agent,
    /// When the agent's client sent its last request or ping, with a precision of about a minute. Null if that was
    /// more than 90 days ago, or if the agent has never set a status or opened a socket.
    last_seen_at: Option<UnixSeconds>,
}

impl AgentWithLastSeen {
    pub fn new(agent: &agent::Agent, last_seen_at: Option<Timestamp>) -> Self {
        Self { agent: Agent::new(agent), last_seen_at: last_seen_at.map(UnixSeconds::from) }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DeletedAgent {
    pub agent_id: SequentialNumber,
    pub deleted: True,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::fields::reader::read;
    use crate::wire::sample_data;

    #[test]
    fn impossible_phone_number_of_an_agent_is_refused() {
        let agent = sample_data::agent(Timestamp(0));
        let phone_after = |body: Value| -> Result<Option<String>, Error> {
            Ok(read::<AgentChanges>(&body)?.applied_to(&agent)?.agent.phone)
        };
        assert_eq!(phone_after(json!({ "phone": "06-12345678" })).unwrap().unwrap(), "06-12345678");
        for cleared in [json!(null), json!(" ")] {
            assert_eq!(phone_after(json!({ "phone": cleared })).unwrap(), None);
        }
        for phone in ["123", "+999 12345678", "call me"] {
            let error = phone_after(json!({ "phone": phone })).unwrap_err().to_string();
            assert!(error.starts_with("phone must be a phone number"), "{error}");
        }
    }
}
