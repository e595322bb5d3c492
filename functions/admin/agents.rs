//! /admin/agents: POST adds an agent, GET lists them; /admin/agents/{agent_id}: GET, PATCH, DELETE.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::domain::account::Agent;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, password};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::{Connections, Session};
use shared::store::directory::Directory;
use shared::store::directory::agents::Authority;
use shared::wire::admin;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, _, connections) = &dependencies;
    let caller = auth::admin(connections, &request).await?;
    if !request.has_segment("agent_id") {
        return match request.method.as_str() {
            "POST" => create(directory, &caller, &request).await,
            _ => list(directory, &caller).await,
        };
    }
    let agent = directory.agent_of(&caller.account_id, request.number("agent_id")?).await?;
    match request.method.as_str() {
        "PATCH" => change(&dependencies, &caller, &request, agent).await,
        "DELETE" => delete(&dependencies, &caller, agent).await,
        _ => Ok(Response::ok(admin::agent(&agent))),
    }
}

async fn create(directory: &Directory, caller: &Session, request: &Request) -> Result<Response, Error> {
    let new = admin::new_agent(&request.json()?)?;
    let password_hash = password::hash(&new.password)?;
    let agent_id = directory.next_agent_id(&caller.account_id).await?;
    let agent = new.into_agent(caller.account_id.clone(), agent_id, clock::now());
    directory.create_agent(&agent, &password_hash, Authority::Admin(caller.agent.agent_id)).await?;
    Ok(Response::created(admin::agent(&agent)))
}

async fn list(directory: &Directory, caller: &Session) -> Result<Response, Error> {
    let agents: Vec<Value> = directory.agents(&caller.account_id).await?.iter().map(admin::agent).collect();
    Ok(Response::ok(json!({ "agents": agents })))
}

async fn change(
    dependencies: &Dependencies,
    caller: &Session,
    request: &Request,
    before: Agent,
) -> Result<Response, Error> {
    let (directory, _, connections) = dependencies;
    let (after, password, ends_sessions) = admin::changed_agent(&request.json()?, &before)?;
    if before.agent_id == caller.agent.agent_id && after.role != before.role {
        return Err(Error::Conflict("an admin cannot change their own role"));
    }
    let by = Authority::Admin(caller.agent.agent_id);
    directory.save_agent(&before, &after, password.as_deref(), by).await?;
    if ends_sessions {
        connections.end_sessions(&after.account_id, after.agent_id).await?;
    } else {
        connections.rename_sessions(&after).await?;
    }
    Ok(Response::ok(admin::agent(&after)))
}

async fn delete(
    (directory, chats, connections): &Dependencies,
    caller: &Session,
    agent: Agent,
) -> Result<Response, Error> {
    if agent.agent_id == caller.agent.agent_id {
        return Err(Error::Conflict("an admin cannot delete themselves"));
    }
    directory.begin_agent_deletion(&agent, Authority::Admin(caller.agent.agent_id)).await?;
    connections.end_sessions(&agent.account_id, agent.agent_id).await?;
    connections.forget_presence(&agent.account_id, agent.agent_id).await?;
    chats.release(&agent.account_id, agent.agent_id, clock::now()).await?;
    directory.delete_agent(&agent).await?;
    Ok(Response::ok(json!({ "agent_id": agent.agent_id, "deleted": true })))
}
