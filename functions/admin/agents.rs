//! /admin/agents: POST creates an agent, GET lists the agents. /admin/agents/{agent_id}: GET returns an agent, PATCH
//! changes the agent, DELETE deletes the agent.
//!
//! An agent without the admin role gets 403 after the session has been read. POST and PATCH get 409 if the e-mail
//! address is taken. PATCH and DELETE can get 409 if a concurrent request changes or deletes the agent. Admins get 409
//! if they try to change their own role or to delete themselves.

use std::collections::HashMap;
use std::process::ExitCode;

use serde_json::{Value, json};
use shared::domain::agent::Agent;
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, password};
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::store::directory::agents::Authority;
use shared::wire::admin::{self, AgentChange};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let dependencies = (directory, chats, connections);
    let (directory, ..) = &dependencies;
    if !request.has_path_segment("agent_id") {
        return match request.method.as_str() {
            "POST" => create(directory, &caller, &request).await,
            _ => list(&dependencies, &caller).await,
        };
    }
    let agent = directory.agent_of_account(&caller.account_id, request.path_number("agent_id")?).await?;
    match request.method.as_str() {
        "PATCH" => update(&dependencies, &caller, &request, agent).await,
        "DELETE" => delete(&dependencies, &caller, agent).await,
        _ => {
            let (_, _, connections) = &dependencies;
            let presence = connections.presence(&agent.account_id, agent.agent_id).await?;
            let last_seen_at = presence.map(|presence| presence.last_request_at);
            Ok(Response::ok(admin::agent_with_last_seen_json(&agent, last_seen_at)))
        }
    }
}

async fn create(directory: &Directory, caller: &Session, request: &Request) -> Result<Response, Error> {
    let new_agent = admin::parse_new_agent(&request.json()?)?;
    let password_hash = password::hash_new(&new_agent.password)?;
    let agent_id = directory.next_agent_id(&caller.account_id).await?;
    let agent = new_agent.into_agent(caller.account_id.clone(), agent_id, clock::now());
    directory.create_agent(&agent, &password_hash, Authority::Admin(caller.agent.agent_id)).await?;
    Ok(Response::created(admin::agent_json(&agent)))
}

async fn list((directory, _, connections): &Dependencies, caller: &Session) -> Result<Response, Error> {
    let (agents, presences) =
        tokio::try_join!(directory.agents(&caller.account_id), connections.presences(&caller.account_id))?;
    let last_seen: HashMap<u64, Timestamp> =
        presences.into_iter().map(|presence| (presence.agent_id, presence.last_request_at)).collect();
    let agent = |agent: &Agent| admin::agent_with_last_seen_json(agent, last_seen.get(&agent.agent_id).copied());
    Ok(Response::ok(json!({ "agents": agents.iter().map(agent).collect::<Vec<Value>>() })))
}

async fn update(
    dependencies: &Dependencies,
    caller: &Session,
    request: &Request,
    before: Agent,
) -> Result<Response, Error> {
    let (directory, _, connections) = dependencies;
    let AgentChange { agent: after, password, ends_sessions } = admin::apply_agent_patch(&request.json()?, &before)?;
    if before.agent_id == caller.agent.agent_id && after.role != before.role {
        return Err(Error::Conflict("an admin cannot change their own role"));
    }
    let authority = Authority::Admin(caller.agent.agent_id);
    directory.save_agent(&before, &after, password.as_ref(), authority).await?;
    if ends_sessions {
        connections.end_sessions(&after.account_id, after.agent_id).await?;
    } else {
        connections.update_session_profiles(&after).await?;
    }
    Ok(Response::ok(admin::agent_json(&after)))
}

async fn delete(
    (directory, chats, connections): &Dependencies,
    caller: &Session,
    agent: Agent,
) -> Result<Response, Error> {
    if agent.agent_id == caller.agent.agent_id {
        return Err(Error::Conflict("an admin cannot delete themselves"));
    }
    directory.start_agent_deletion(&agent, Authority::Admin(caller.agent.agent_id)).await?;
    connections.end_sessions(&agent.account_id, agent.agent_id).await?;
    connections.delete_presence(&agent.account_id, agent.agent_id).await?;
    chats.release_chats_of_agent(&agent.account_id, agent.agent_id, clock::now()).await?;
    directory.delete_agent(&agent).await?;
    Ok(Response::ok(json!({ "agent_id": agent.agent_id, "deleted": true })))
}
