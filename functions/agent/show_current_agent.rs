//! GET /agent/me: returns the signed-in agent, the agent's role and the account.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::connections::sessions::SessionAccess;
use shared::store::directory::Directory;
use shared::wire::agent::CurrentAgent;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::agent_with_any_password(&connections, &request).await?;
    let (account_id, agent_id) = (&caller.account_id, caller.agent.agent_id);
    let (agent, account_name) =
        tokio::try_join!(directory.agent(account_id, agent_id), directory.account_name(account_id))?;
    // If the agent's item is missing, the agent has just been deleted, and the session is about to end.
    let agent = agent.ok_or(Error::Unauthorized)?;
    let must_change_password = caller.access == SessionAccess::PasswordChange;
    Ok(Response::ok(CurrentAgent::new(agent, account_name, must_change_password)))
}
