//! /agent/sessions: GET lists the agent's own sessions, DELETE ends all of them except the one that makes the request.
//! DELETE /agent/sessions/{session_id} ends one of them. The sockets of an ended session are closed.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::connections::sessions;
use shared::wire::agent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle(connections: Connections, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, agent_id, now) = (&caller.account_id, caller.agent.agent_id, clock::now());
    match (request.method.as_str(), request.has_path_segment("session_id")) {
        ("DELETE", true) => {
            let id = request.path_segment("session_id");
            if !connections.revoke_session(account_id, agent_id, &id, now).await? {
                return Err(Error::NotFound);
            }
            Ok(Response::ok(json!({ "session_id": id, "deleted": true })))
        }
        ("DELETE", false) => {
            let ended = connections.end_other_sessions(&caller).await?;
            Ok(Response::ok(json!({ "ended_sessions": ended })))
        }
        _ => {
            let listed = connections.agent_sessions(account_id, agent_id, now).await?;
            Ok(Response::ok(agent::sessions_json(&listed, &sessions::short_id(&caller.id))))
        }
    }
}
