//! /agent/sessions: GET lists the agent's own sessions, DELETE ends all of them except the one that makes the request.
//! The sockets of an ended session are closed.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::connections::sessions;
use shared::wire::agent::{AgentSessions, EndedSessions};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle(connections: Connections, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD")?;
    let caller = auth::agent(&connections, &request).await?;
    match request.method.as_str() {
        "GET" => {
            let listed = connections.agent_sessions(&caller.account_id, caller.agent.agent_id, clock::now()).await?;
            Ok(Response::ok(AgentSessions::new(listed, &sessions::short_id(&caller.id))))
        }
        "DELETE" => {
            let ended_sessions = connections.end_other_sessions(&caller).await?;
            Ok(Response::ok(EndedSessions { ended_sessions }))
        }
        _ => Err(request.unexpected_method()),
    }
}
