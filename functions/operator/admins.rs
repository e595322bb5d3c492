//! POST /operator/accounts/{account_id}/admins: adds an admin to an account. When the e-mail already belongs to an agent of
//! that account, gives this agent the password and the role and ends their sessions, so that an account whose admins
//! are all lost can be entered again. Two reads; then two writes for a new admin, else a read, a transaction and the
//! deletion of each session.

use std::process::ExitCode;

use shared::domain::account::{Agent, Role};
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::secret::OperatorKey;
use shared::runtime::{clock, password};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::store::directory::agents::Authority;
use shared::wire::admin::{self, NewAgent};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Connections, OperatorKey);

async fn handle((directory, connections, operator_key): Dependencies, request: Request) -> Result<Response, Error> {
    auth::operator(&operator_key, &request)?;
    let (account_id, new) = (request.segment("account_id"), admin::new_admin(&request.json()?)?);
    if !directory.has_account(&account_id).await? {
        return Err(Error::NotFound);
    }
    match directory.login(&new.email).await? {
        None => add(&directory, account_id, new).await,
        Some(login) if login.account_id == account_id => {
            let agent = directory.agent_of(&account_id, login.agent_id).await?;
            reset(&directory, &connections, agent, &new.password).await
        }
        Some(_) => Err(Error::Conflict("the e-mail belongs to another account")),
    }
}

async fn add(directory: &Directory, account_id: String, new: NewAgent) -> Result<Response, Error> {
    let password_hash = password::hash(&new.password)?;
    let agent_id = directory.next_agent_id(&account_id).await?;
    let admin = new.into_agent(account_id, agent_id, clock::now());
    directory.create_agent(&admin, &password_hash, Authority::Operator).await?;
    Ok(Response::created(admin::agent(&admin)))
}

/// What is known of the agent besides the role stays.
async fn reset(
    directory: &Directory,
    connections: &Connections,
    agent: Agent,
    password: &str,
) -> Result<Response, Error> {
    let admin = Agent { role: Role::Admin, ..agent.clone() };
    directory.save_agent(&agent, &admin, Some(password), Authority::Operator).await?;
    connections.end_sessions(&admin.account_id, admin.agent_id).await?;
    Ok(Response::ok(admin::agent(&admin)))
}
