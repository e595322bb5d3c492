//! POST /agent/login: exchanges an e-mail address and a password for a bearer token. An unknown e-mail address and a
//! wrong password get the same response after about the same time. After too many failed attempts, the request is
//! rejected with 429 before the password is verified.
//!
//! Costs these table requests:
//! - failure counters: one write for each of three counters. If the counter for the e-mail address or for the client
//!   network (an IPv4 address or an IPv6 /64 prefix) exceeds its limit, one read checks whether the network is known
//!   for the e-mail address. A request that is rejected with 429 makes one to three of these writes and none of the
//!   following requests
//! - login: one read
//! - agent: one read
//! - audit log: one write. The refused attempts of an agent and an address have one entry a minute. A request with a
//!   wrong password gets 401 after this write; so does a request with an unknown e-mail address, whose write stores
//!   nothing
//! - successful login: four concurrent writes (the counters and the known network), then one write of the session
//! - login and agent again: one read each, so that no token is returned if the password or the role has changed
//!   concurrently
//! - settings: one read. If the account is suspended, one write and one query end the session again

use std::process::ExitCode;

use shared::domain::agent::{Agent, AgentSnapshot};
use shared::domain::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::login_limit::client_network;
use shared::error::{Error, ErrorContext};
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, password};
use shared::service::audit;
use shared::store::connections::Connections;
use shared::store::connections::sessions::SessionOrigin;
use shared::store::directory::Directory;
use shared::wire::agent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let (email, password) = agent::parse_credentials(&request.json()?)?;
    let attempt = connections.count_login_attempt(&email, &request.source_address(), clock::now()).await?;
    let login = directory.login(&email).await?;
    let is_correct = password::verify(&password, login.as_ref().map(|login| login.password_hash.as_str()));
    let Some(login) = login else {
        tracing::warn!(network = client_network(&request.source_address()), "sign-in with an unknown e-mail address");
        directory.imitate_refused_sign_in().await?;
        return Err(Error::InvalidCredentials);
    };
    let agent = directory.agent(&login.account_id, login.agent_id).await?.ok_or(Error::InvalidCredentials)?;
    let audited = audit::by(&directory, Some(AgentSnapshot::from(agent.clone()).without_photo()), &request);
    if !is_correct {
        audited.record_once_a_minute(&agent.account_id, sign_in(AuditAction::SignInRefused, &agent)).await?;
        return Err(Error::InvalidCredentials);
    }
    connections.record_login_success(attempt, clock::now()).await?;
    let origin = SessionOrigin {
        source_address: request.source_address(),
        user_agent: request.user_agent(),
        must_change_password: login.must_change_password,
    };
    let token = connections.create_session(&agent, &origin, clock::now()).await?;
    // Check again that the login and the agent are unchanged. A new password or role ends the agent's sessions, but not
    // a session that is stored afterwards. The token of such a session must not be returned.
    let is_current = directory.login(&email).await?.as_ref() == Some(&login)
        && directory.agent(&login.account_id, login.agent_id).await?.as_ref() == Some(&agent);
    if !is_current {
        return Err(Error::Unavailable(ErrorContext::new("the agent was changed while signing in")));
    }
    // The settings are read after the session has been stored, because a suspension marks the stored sessions.
    if directory.settings(&agent.account_id).await?.suspended_at.is_some() {
        connections.end_session(&token, clock::now()).await?;
        return Err(Error::AccountSuspended);
    }
    audited.record(&agent.account_id, sign_in(AuditAction::SignedIn, &agent)).await?;
    Ok(Response::ok(agent::login_json(&token, &agent, login.must_change_password)))
}

fn sign_in(action: AuditAction, agent: &Agent) -> AuditedChange {
    AuditedChange::named(action, AuditedKind::Session, agent.agent_id.to_string(), &agent.name)
}
