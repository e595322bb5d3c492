//! POST /operator/accounts: creates an account with its first admin.
//!
//! Costs one transaction, which writes the account, the admin and the login. A request with a wrong operator key is
//! rejected before any table request.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::agent::Agent;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::{self, OperatorKey};
use shared::runtime::{clock, password};
use shared::service::auth;
use shared::store::directory::Directory;
use shared::wire::admin;

const FIRST_AGENT_ID: u64 = 1;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, operator_key): (Directory, OperatorKey), request: Request) -> Result<Response, Error> {
    auth::operator(&operator_key, &request)?;
    let (name, new_admin) = admin::parse_new_account(&request.json()?)?;
    let password_hash = password::hash(&new_admin.password)?;
    let admin: Agent = new_admin.into_agent(random_ids_and_secrets::random_identifier()?, FIRST_AGENT_ID, clock::now());
    directory.create_account(&name, &admin, &password_hash).await?;
    Ok(Response::created(json!({ "account_id": admin.account_id, "admin_id": FIRST_AGENT_ID })))
}
