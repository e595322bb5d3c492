//! PUT /agent/password: replaces the agent's own password and ends the agent's other sessions. The current password is
//! verified first, with the limits of a sign-in. This is the only request, apart from GET /agent/me, that an agent can
//! make who has to replace a password that another person has set.

use std::process::ExitCode;

use shared::domain::accounts::password_policy::PasswordHash;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, password};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::connections::sessions::SessionAccess;
use shared::store::directory::Directory;
use shared::wire::agent::{ChangedPassword, PasswordChange};
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::agent_with_any_password(&connections, &request).await?;
    let agent = directory.agent(&caller.account_id, caller.agent.agent_id).await?.ok_or(Error::Unauthorized)?;
    let (current, new) = request.body_as::<PasswordChange>()?.checked(&agent.email)?;
    let attempt = connections.count_login_attempt(&agent.email, &request.source_address(), clock::now()).await?;
    let login = directory.login(&agent.email).await?.ok_or(Error::Unauthorized)?;
    if !password::verify(&current, Some(&login.password_hash)) {
        return Err(Error::field("current_password", "is wrong"));
    }
    connections.record_login_success(attempt, clock::now()).await?;
    let new = PasswordHash { text: password::hash(&new)?, must_change: false };
    // Whoever has stolen the password may have a session. The sessions end before the change, because this request
    // cannot be repeated after it, and again after it, because of sign-ins in between.
    let before = connections.end_other_sessions(&caller).await?;
    audit::by_agent(&directory, &caller, &request).change_own_password(&agent, &login, &new).await?;
    let ended_sessions = before + connections.end_other_sessions(&caller).await?;
    if caller.access == SessionAccess::PasswordChange {
        connections.lift_password_change(&caller).await?;
    }
    Ok(Response::ok(ChangedPassword { changed: True, ended_sessions }))
}
