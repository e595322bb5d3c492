//! /admin/agents: POST creates an agent, GET lists the agents. POST gets 409 if the e-mail address is taken.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::collections::HashMap;
use std::process::ExitCode;

use shared::domain::accounts::agent::Agent;
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, password};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::store::directory::agents::Authority;
use shared::wire::admin::{self, AgentWithLastSeen, Agents, NewAgent};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections);

async fn handle((directory, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, POST")?;
    let caller = auth::admin(&connections, &request).await?;
    match request.method.as_str() {
        "POST" => create(&audit::by_agent(&directory, &caller, &request), &caller, &request).await,
        "GET" => list(&directory, &connections, &caller).await,
        _ => Err(request.unexpected_method()),
    }
}

async fn create(directory: &Directory, caller: &Session, request: &Request) -> Result<Response, Error> {
    let new_agent = request.body_as::<NewAgent>()?.checked()?;
    let password_hash = password::hash_new(&new_agent.password)?;
    let agent_id = directory.next_agent_id(&caller.account_id).await?;
    let agent = new_agent.into_agent(caller.account_id.clone(), agent_id, clock::now());
    directory.create_agent(&agent, &password_hash, Authority::Admin(caller.agent.agent_id)).await?;
    Ok(Response::created(admin::Agent::new(&agent)))
}

async fn list(directory: &Directory, connections: &Connections, caller: &Session) -> Result<Response, Error> {
    let (agents, presences) =
        tokio::try_join!(directory.agents(&caller.account_id), connections.presences(&caller.account_id))?;
    let last_seen: HashMap<u64, Timestamp> =
        presences.into_iter().map(|presence| (presence.agent_id, presence.last_request_at)).collect();
    let agent = |agent: &Agent| AgentWithLastSeen::new(agent, last_seen.get(&agent.agent_id).copied());
    Ok(Response::ok(Agents { agents: agents.iter().map(agent).collect() }))
}
