//! The endpoints of an agent's own sessions: signing in and out, the password, and the list of sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation, Security};
use crate::domain::accounts::agent::{Agent, Role, SessionSummary};
use crate::domain::accounts::password_policy::{PASSWORD_CHARS, check_new_password};
use crate::error::Error;
use crate::wire::agent::{MAX_AGENT_FIELD_CHARS, MAX_TEXT_FIELD_CHARS};
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{Name, SequentialNumber, Text, True, UnixSeconds};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/agent/login", "agentLogin", "Exchanges an e-mail address and a password for a bearer token")
            .describe(
                "Wrong passwords are counted in windows of five minutes: at most ten for one e-mail address from one \
                 source address, a hundred from one source address, and fifty for one e-mail address. The last two \
                 limits do not apply to a source address from which the agent has signed in within the last 30 days. \
                 The session ends after 12 hours without a request, and 30 days after the login at the latest.",
            )
            .body::<LoginRequest>()
            .answers::<LoginResponse>(200, "A new session.")
            .fails(&[Failure::Unauthorized, Failure::AccountSuspended, Failure::TooManyPasswords])
            .secured_by(Security::Public)
            .tagged("Agents"),
        Operation::post("/agent/logout", "agentLogout", "Ends the session")
            .describe(
                "An expired or unknown token gets the same response, so the request can be repeated. When the last \
                 session ends, the agent is offline.",
            )
            .answers::<LoggedOut>(200, "The token is not valid any more.")
            .never_fails(Failure::Forbidden),
        Operation::get("/agent/me", "currentAgent", "Reads the signed-in agent and the account")
            .describe(
                "Clients call this after a reload, to find out whether their token is still valid and what the agent \
                 may do.",
            )
            .answers::<CurrentAgent>(200, "The agent."),
        Operation::put("/agent/password", "changePassword", "Replaces the agent's own password")
            .describe(
                "The current password is verified with the limits of a sign-in. The agent's other sessions end. A \
                 session that must replace its password can make only this request, GET /agent/me and POST \
                 /agent/logout.",
            )
            .body::<PasswordChange>()
            .answers::<ChangedPassword>(200, "The password is replaced.")
            .fails(&[Failure::Conflict, Failure::TooManyPasswords]),
        Operation::get("/agent/sessions", "sessions", "Lists the agent's own sessions, the one used last first")
            .describe("The times are those of the sign-in and of the last request, which is exact to a minute.")
            .answers::<AgentSessions>(200, "The sessions."),
        Operation::delete(
            "/agent/sessions",
            "endOtherSessions",
            "Ends the agent's sessions except the one that makes the request",
        )
        .describe("Their sockets are closed.")
        .answers::<EndedSessions>(200, "The other sessions have ended."),
        Operation::delete("/agent/sessions/{session_id}", "endSession", "Ends one of the agent's own sessions")
            .describe("Its sockets are closed.")
            .answers::<EndedSession>(200, "The session has ended."),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct LoginRequest {
    email: Text<MAX_AGENT_FIELD_CHARS>,
    password: Text<MAX_AGENT_FIELD_CHARS>,
}

impl LoginRequest {
    /// Returns the e-mail address, trimmed and in lower case, and the password.
    pub fn into_credentials(self) -> (String, String) {
        let Self { email: Text(email), password: Text(password) } = self;
        (email.trim().to_lowercase(), password)
    }
}

#[derive(Serialize, JsonSchema)]
pub struct LoginResponse {
    /// The bearer token.
    token: String,
    agent: SignedInAgent,
    /// Whether the agent must call PUT /agent/password first.
    must_change_password: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct SignedInAgent {
    id: SequentialNumber,
    name: String,
    role: Name<Role>,
    account_id: String,
}

impl LoginResponse {
    pub fn new(token: String, agent: Agent, must_change_password: bool) -> Self {
        let Agent { account_id, agent_id, name, role, .. } = agent;
        let agent = SignedInAgent { id: SequentialNumber(agent_id), name, role: Name(role), account_id };
        Self { token, agent, must_change_password }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct LoggedOut {
    pub logged_out: True,
}

#[derive(Serialize, JsonSchema)]
pub struct CurrentAgent {
    agent: AgentProfile,
    role: Name<Role>,
    account: CurrentAccount,
    must_change_password: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct AgentProfile {
    id: SequentialNumber,
    name: String,
    email: String,
    photo: Option<WebUrl>,
    phone: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct CurrentAccount {
    account_id: String,
    name: String,
}

impl CurrentAgent {
    pub fn new(agent: Agent, account_name: String, must_change_password: bool) -> Self {
        let Agent { account_id, agent_id, name, email, phone, photo, role, capacity: _, created_at: _ } = agent;
        Self {
            agent: AgentProfile { id: SequentialNumber(agent_id), name, email, photo: photo.map(WebUrl), phone },
            role: Name(role),
            account: CurrentAccount { account_id, name: account_name },
            must_change_password,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct PasswordChange {
    current_password: Text<MAX_AGENT_FIELD_CHARS>,
    /// Control characters, blanks only, and common or repetitive passwords are refused. It must not be the e-mail
    /// address.
    #[schemars(with = "String", extend("minLength" = PASSWORD_CHARS.start(), "maxLength" = PASSWORD_CHARS.end()))]
    new_password: Text<MAX_TEXT_FIELD_CHARS>,
}

impl PasswordChange {
    /// Returns the current and the new password. `email` is the agent's e-mail address.
    pub fn checked(self, email: &str) -> Result<(String, String), Error> {
        let Self { current_password: Text(current), new_password: Text(new) } = self;
        check_new_password(&new, Some(email)).map_err(|reason| Error::field("new_password", reason))?;
        if new == current {
            return Err(Error::field("new_password", "must differ from the current password"));
        }
        Ok((current, new))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ChangedPassword {
    pub changed: True,
    pub ended_sessions: usize,
}

#[derive(Serialize, JsonSchema)]
pub struct AgentSessions {
    sessions: Vec<AgentSession>,
}

/// A session of the agent. The time of the last request is exact to a minute.
#[derive(Serialize, JsonSchema)]
pub struct AgentSession {
    #[schemars(length(equal = 16))]
    id: String,
    /// Whether this session makes the request.
    current: bool,
    /// Null if an earlier version of the service stored the session.
    created_at: Option<UnixSeconds>,
    last_request_at: UnixSeconds,
    /// The IP address of the sign-in.
    source_address: Option<String>,
    #[schemars(length(max = 200))]
    user_agent: Option<String>,
}

impl AgentSessions {
    /// `current` is the short id of the session that makes the request.
    pub fn new(sessions: Vec<SessionSummary>, current: &str) -> Self {
        let session = |summary| {
            let SessionSummary { short_id, created_at, last_request_at, source_address, user_agent } = summary;
            AgentSession {
                current: short_id == current,
                id: short_id,
                created_at: created_at.map(UnixSeconds::from),
                last_request_at: last_request_at.into(),
                source_address,
                user_agent,
            }
        };
        Self { sessions: sessions.into_iter().map(session).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct EndedSessions {
    pub ended_sessions: usize,
}

#[derive(Serialize, JsonSchema)]
pub struct EndedSession {
    pub session_id: String,
    pub deleted: True,
}
