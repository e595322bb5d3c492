//! POST /agent/login: exchanges an e-mail address and a password for a bearer token. An unknown e-mail address and a
//! wrong password get the same response after about the same time. After too many failed attempts, the request is
//! rejected with 429 before the password is verified.
//!
//! Costs these table requests:
//! - failure counters: one write for each of three counters. If the counter for the e-mail address or for the client
//!   network (an IPv4 address or an IPv6 /64 prefix) exceeds its limit, one read checks whether the network is known
//!   for the e-mail address. A request that is rejected with 429 makes one to three of these writes and none of the
//!   following requests
//! - login: one read. A request with a wrong password gets 401 after this read
//! - agent: one read
//! - successful login: four concurrent writes (the counters and the known network), then one write of the session
//! - login and agent again: one read each, so that no token is returned if the password or the role has changed
//!   concurrently

use std::process::ExitCode;

use shared::error::{Error, ErrorContext};
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, password};
use shared::store::connections::Connections;
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
    let login = login.filter(|_| is_correct).ok_or(Error::InvalidCredentials)?;
    let agent = directory.agent(&login.account_id, login.agent_id).await?.ok_or(Error::InvalidCredentials)?;
    connections.record_login_success(attempt, clock::now()).await?;
    let token = connections.create_session(&agent, clock::now()).await?;
    // Check again that the login and the agent are unchanged. A new password or role ends the agent's sessions, but not
    // a session that is stored afterwards. The token of such a session must not be returned.
    let is_current = directory.login(&email).await?.as_ref() == Some(&login)
        && directory.agent(&login.account_id, login.agent_id).await?.as_ref() == Some(&agent);
    if !is_current {
        return Err(Error::Unavailable(ErrorContext::new("the agent was changed while signing in")));
    }
    Ok(Response::ok(agent::login_json(&token, &agent)))
}
