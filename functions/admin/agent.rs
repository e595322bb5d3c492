//! /admin/agents/{agent_id}: GET returns an agent, PATCH changes the agent, DELETE deletes the agent.
//!
//! PATCH gets 409 if the e-mail address is taken. PATCH and DELETE can get 409 if a concurrent request changes or
//! deletes the agent. Admins get 409 if they try to change their own role or to delete themselves. An agent without the
//! admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::chats::agent::release_chats_of_agent::release_chats_of_agent;
use shared::domain::accounts::agent::Agent;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::store::directory::agents::Authority;
use shared::wire::admin::{self, AgentChange, AgentChanges, AgentWithLastSeen, DeletedAgent};
use shared::wire::fields::values::{SequentialNumber, True};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PATCH")?;
    let caller = auth::admin(&connections, &request).await?;
    let agent = directory.agent_of_account(&caller.account_id, request.path_number("agent_id")?).await?;
    let dependencies = (audit::by_agent(&directory, &caller, &request), chats, connections, outbox);
    match request.method.as_str() {
        "GET" => show(&dependencies.2, &agent).await,
        "PATCH" => update(&dependencies, &caller, &request, agent).await,
        "DELETE" => delete(&dependencies, &caller, agent).await,
        _ => Err(request.unexpected_method()),
    }
}

async fn show(connections: &Connections, agent: &Agent) -> Result<Response, Error> {
    let presence = connections.presence(&agent.account_id, agent.agent_id).await?;
    let last_seen_at = presence.map(|presence| presence.last_request_at);
    Ok(Response::ok(AgentWithLastSeen::new(agent, last_seen_at)))
}

async fn update(
    (directory, _, connections, _): &Dependencies,
    caller: &Session,
    request: &Request,
    before: Agent,
) -> Result<Response, Error> {
    let AgentChange { agent: after, password, ends_sessions } =
        request.body_as::<AgentChanges>()?.applied_to(&before)?;
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
    Ok(Response::ok(admin::Agent::new(&after)))
}

async fn delete(
    (directory, chats, connections, outbox): &Dependencies,
    caller: &Session,
    agent: Agent,
) -> Result<Response, Error> {
    if agent.agent_id == caller.agent.agent_id {
        return Err(Error::Conflict("an admin cannot delete themselves"));
    }
    directory.start_agent_deletion(&agent, Authority::Admin(caller.agent.agent_id)).await?;
    connections.end_sessions(&agent.account_id, agent.agent_id).await?;
    connections.delete_presence(&agent.account_id, agent.agent_id).await?;
    let webhooks = &directory.settings(&agent.account_id).await?.webhooks;
    let released = release_chats_of_agent(chats, &agent.account_id, agent.agent_id, webhooks, clock::now()).await?;
    outbox.enqueue(&released).await;
    directory.delete_agent(&agent).await?;
    Ok(Response::ok(DeletedAgent { agent_id: SequentialNumber(agent.agent_id), deleted: True }))
}
