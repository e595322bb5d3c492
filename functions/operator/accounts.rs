//! POST /operator/accounts: the operator opens an account with its first admin.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::account::Agent;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::secret::{self, OperatorKey};
use shared::runtime::{clock, password};
use shared::service::auth;
use shared::store::directory::Directory;
use shared::wire::admin;

/// The first agent of an account.
const ADMIN_ID: u64 = 1;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, operator_key): (Directory, OperatorKey), request: Request) -> Result<Response, Error> {
    auth::operator(&operator_key, &request)?;
    let (name, new) = admin::new_account(&request.json()?)?;
    let password_hash = password::hash(&new.password)?;
    let admin: Agent = new.into_agent(secret::identifier()?, ADMIN_ID, clock::now());
    directory.create_account(&name, &admin, &password_hash).await?;
    Ok(Response::created(json!({ "account_id": admin.account_id, "admin_id": ADMIN_ID })))
}
