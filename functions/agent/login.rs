//! POST /agent/login: e-mail and password for a bearer token. A wrong password and an unknown e-mail get the
//! same answer in the same time, and too many of them the same 429 before a password is verified. Three writes, a read; then
//! for the right password a read, five writes and two reads.

use std::process::ExitCode;

use shared::error::{Context, Error};
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
    let (email, password) = agent::credentials(&request.json()?)?;
    let attempt = connections.begin_login(&email, &request.source_address(), clock::now()).await?;
    let login = directory.login(&email).await?;
    let is_right = password::verify(&password, login.as_ref().map(|login| login.password_hash.as_str()));
    let login = login.filter(|_| is_right).ok_or(Error::InvalidCredentials)?;
    let found = directory.agent(&login.account_id, login.agent_id).await?;
    let agent = found.ok_or(Error::InvalidCredentials)?;
    connections.login_succeeded(attempt, clock::now()).await?;
    let token = connections.begin_session(&agent, clock::now()).await?;
    // Who changes a password or a role ends the sessions that there are. If this one was too late for that, nobody is
    // told its token.
    let is_current = directory.login(&email).await?.as_ref() == Some(&login)
        && directory.agent(&login.account_id, login.agent_id).await?.as_ref() == Some(&agent);
    if !is_current {
        return Err(Error::Unavailable(Context::new("the agent was changed while signing in")));
    }
    Ok(Response::ok(agent::logged_in(&token, &agent)))
}
