//! GET and PUT /agent/presence: returns or sets whether the agent is online, away or offline. An agent counts as
//! offline ten minutes after their last request or ping, and 90 seconds after their last socket was closed.

use std::process::ExitCode;

use shared::domain::accounts::agent_presence::{AgentStatus, Presence, SocketPresence};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::wire::agent::{AgentPresence, NewAgentPresence};
use shared::wire::fields::values::Name;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle(connections: Connections, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, PUT")?;
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, agent_id, now) = (&caller.account_id, caller.agent.agent_id, clock::now());
    let presence = if request.method == "PUT" {
        let NewAgentPresence { status: Name(status) } = request.body_as()?;
        connections.set_presence(account_id, agent_id, status, now).await?
    } else {
        let (status, socket) = (AgentStatus::Offline, SocketPresence::Unused);
        let offline = Presence { agent_id, status, last_request_at: now, socket };
        connections.presence(account_id, agent_id).await?.unwrap_or(offline)
    };
    Ok(Response::ok(AgentPresence::new(&presence, now)))
}
