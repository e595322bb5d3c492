//! GET /agent/agents: lists all agents of the account with their current status, and all departments. Agents use the
//! list to choose the recipient of a transfer.
//!
//! Costs these table requests:
//! - session: one read, plus two writes at most once a minute (the session and the agent's presence)
//! - agents and departments: one query per megabyte, not cached, so that new agents and departments appear at once
//! - agents' presence: one query, concurrently with the query of the agents and departments

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let account_id = auth::agent(&connections, &request).await?.account_id;
    let ((agents, departments), presences) =
        tokio::try_join!(directory.agents_and_departments(&account_id), connections.presences(&account_id))?;
    Ok(Response::ok(agent::colleagues_json(&agents, &departments, &presences, clock::now())))
}
