//! GET /agent/agents: lists all agents of the account with their current status, and all departments. Agents use the
//! list to choose the recipient of a transfer.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::Colleagues;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let account_id = auth::agent(&connections, &request).await?.account_id;
    let ((agents, departments), presences) =
        tokio::try_join!(directory.agents_and_departments(&account_id), connections.presences(&account_id))?;
    Ok(Response::ok(Colleagues::new(agents, &departments, &presences, clock::now())))
}
