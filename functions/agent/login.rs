//! POST /agent/login: exchanges an e-mail address and a password for a bearer token. An unknown e-mail address and a
//! wrong password get the same response after about the same time. After too many failed attempts, the request is
//! rejected with 429 before the password is verified.

use std::process::ExitCode;

use shared::domain::accounts::agent::{Agent, AgentSnapshot};
use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::accounts::login_limit::client_network;
use shared::error::{Error, ErrorContext};
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, password};
use shared::service::audit;
use shared::store::connections::Connections;
use shared::store::connections::sessions::SessionOrigin;
use shared::store::directory::Directory;
use shared::wire::agent::{LoginRequest, LoginResponse};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let (email, password) = request.body_as::<LoginRequest>()?.into_credentials();
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
    Ok(Response::ok(LoginResponse::new(token, agent, login.must_change_password)))
}

fn sign_in(action: AuditAction, agent: &Agent) -> AuditedChange {
    AuditedChange::named(action, AuditedKind::Session, agent.agent_id.to_string(), &agent.name)
}
