//! /operator/accounts: POST creates an account with its first admin. GET ?email=&limit=&cursor= lists the accounts in
//! the order of their ids, or finds the account of the agent with this e-mail address.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use shared::domain::accounts::agent::Agent;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::{self, OperatorKey};
use shared::runtime::{clock, password};
use shared::service::{audit, auth};
use shared::store::directory::Directory;
use shared::wire::admin::{AccountListQuery, Accounts, CreatedAccount, NewAccount};
use shared::wire::fields::values::SequentialNumber;

const FIRST_AGENT_ID: u64 = 1;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, operator_key): (Directory, OperatorKey), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, POST")?;
    auth::operator(&operator_key, &request)?;
    if request.method == "POST" { create(&directory, &request).await } else { list(&directory, &request).await }
}

async fn create(directory: &Directory, request: &Request) -> Result<Response, Error> {
    let (name, new_admin) = request.body_as::<NewAccount>()?.checked()?;
    let password_hash = password::hash_new(&new_admin.password)?;
    let admin: Agent = new_admin.into_agent(random_ids_and_secrets::random_identifier()?, FIRST_AGENT_ID, clock::now());
    audit::by_operator(directory, request).create_account(&name, &admin, &password_hash).await?;
    let admin_id = SequentialNumber(FIRST_AGENT_ID);
    Ok(Response::created(CreatedAccount { account_id: admin.account_id, admin_id }))
}

async fn list(directory: &Directory, request: &Request) -> Result<Response, Error> {
    let query: AccountListQuery = request.query_as()?;
    let Some(email) = query.email() else {
        let page = directory.accounts(query.after(), query.limit()).await?;
        return Ok(Response::ok(Accounts::new(&page.accounts, page.next)));
    };
    let account = match directory.login(&email).await? {
        Some(login) => directory.account(&login.account_id).await?,
        None => None,
    };
    Ok(Response::ok(Accounts::new(account.as_slice(), None)))
}
