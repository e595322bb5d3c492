//! DELETE /agent/sessions/{session_id}: ends one of the agent's own sessions and closes its sockets.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::wire::agent::EndedSession;
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle(connections: Connections, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let session_id = request.path_segment("session_id");
    if !connections.revoke_session(&caller.account_id, caller.agent.agent_id, &session_id, clock::now()).await? {
        return Err(Error::NotFound);
    }
    Ok(Response::ok(EndedSession { session_id, deleted: True }))
}
