//! /operator/accounts: POST creates an account with its first admin. GET ?email=&limit=&cursor= lists the accounts in
//! the order of their ids, or finds the account of the agent with this e-mail address.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::agent::Agent;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::{self, OperatorKey};
use shared::runtime::{clock, password};
use shared::service::{audit, auth};
use shared::store::directory::Directory;
use shared::wire::admin::{self, AccountListRequest};

const FIRST_AGENT_ID: u64 = 1;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, operator_key): (Directory, OperatorKey), request: Request) -> Result<Response, Error> {
    auth::operator(&operator_key, &request)?;
    if request.method == "POST" { create(&directory, &request).await } else { list(&directory, &request).await }
}

async fn create(directory: &Directory, request: &Request) -> Result<Response, Error> {
    let (name, new_admin) = admin::parse_new_account(&request.json()?)?;
    let password_hash = password::hash_new(&new_admin.password)?;
    let admin: Agent = new_admin.into_agent(random_ids_and_secrets::random_identifier()?, FIRST_AGENT_ID, clock::now());
    audit::by_operator(directory, request).create_account(&name, &admin, &password_hash).await?;
    Ok(Response::created(json!({ "account_id": admin.account_id, "admin_id": FIRST_AGENT_ID })))
}

async fn list(directory: &Directory, request: &Request) -> Result<Response, Error> {
    let AccountListRequest { email, limit, after } = admin::parse_account_list(&|name| request.query(name))?;
    let Some(email) = email else {
        let page = directory.accounts(after.as_deref(), limit).await?;
        return Ok(Response::ok(admin::accounts_json(&page.accounts, page.next.as_deref())));
    };
    let account = match directory.login(&email).await? {
        Some(login) => directory.account(&login.account_id).await?,
        None => None,
    };
    Ok(Response::ok(admin::accounts_json(account.as_slice(), None)))
}
