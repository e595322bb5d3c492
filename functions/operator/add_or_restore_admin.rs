//! POST /operator/accounts/{account_id}/admins: adds an admin to an account. If the e-mail address belongs to an agent
//! of the account, this agent gets the new password and the admin role, and the agent's sessions end. This lets the
//! operator help an account whose admins can no longer sign in.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use shared::domain::accounts::agent::{Agent, Role};
use shared::domain::accounts::password_policy::NewPassword;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::OperatorKey;
use shared::runtime::{clock, password};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::store::directory::agents::Authority;
use shared::wire::admin::{self, AgentWithPassword, NewAgent};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, OperatorKey);

async fn handle((directory, connections, operator_key): Dependencies, request: Request) -> Result<Response, Error> {
    auth::operator(&operator_key, &request)?;
    let account_id = request.path_segment("account_id");
    let new_admin = request.body_as::<NewAgent>()?.checked_admin("password")?;
    if !directory.has_account(&account_id).await? {
        return Err(Error::NotFound);
    }
    let directory = audit::by_operator(&directory, &request);
    match directory.login(&new_admin.email).await? {
        None => create_admin(&directory, account_id, new_admin).await,
        Some(login) if login.account_id == account_id => {
            let agent = directory.agent_of_account(&account_id, login.agent_id).await?;
            promote_and_reset_password(&directory, &connections, agent, &new_admin.password).await
        }
        Some(_) => Err(Error::Conflict("the e-mail belongs to another account")),
    }
}

async fn create_admin(
    directory: &Directory,
    account_id: String,
    new_admin: AgentWithPassword,
) -> Result<Response, Error> {
    let password_hash = password::hash_new(&new_admin.password)?;
    let agent_id = directory.next_agent_id(&account_id).await?;
    let admin = new_admin.into_agent(account_id, agent_id, clock::now());
    directory.create_agent(&admin, &password_hash, Authority::Operator).await?;
    Ok(Response::created(admin::Agent::new(&admin)))
}

/// Gives the agent the admin role and the new password, and ends the agent's sessions. The other fields of the request,
/// such as the name, are ignored.
async fn promote_and_reset_password(
    directory: &Directory,
    connections: &Connections,
    agent: Agent,
    password: &NewPassword,
) -> Result<Response, Error> {
    let admin = Agent { role: Role::Admin, ..agent.clone() };
    directory.save_agent(&agent, &admin, Some(password), Authority::Operator).await?;
    connections.end_sessions(&admin.account_id, admin.agent_id).await?;
    Ok(Response::ok(admin::Agent::new(&admin)))
}
