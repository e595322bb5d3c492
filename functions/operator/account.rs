//! /operator/accounts/{account_id}: GET returns an account with its admins and, if it is being deleted, the progress.
//! PATCH suspends the account or ends its suspension. DELETE orders the deletion of the account, which
//! `schedule-close-idle-chats` carries out.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use shared::domain::accounts::account::Account;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::OperatorKey;
use shared::service::account_deletion::{order_deletion, set_suspension};
use shared::service::{audit, auth};
use shared::store::account_deletion::AccountData;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::{AccountDetails, AccountSuspension};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, OperatorKey);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PATCH")?;
    let (directory, chats, connections, operator_key) = dependencies;
    auth::operator(&operator_key, &request)?;
    let account_id = &request.path_segment("account_id");
    let account = directory.account(account_id).await?.ok_or(Error::NotFound)?;
    let directory = audit::by_operator(&directory, &request);
    let data = AccountData { directory: &directory, chats: &chats, connections: &connections };
    match request.method.as_str() {
        "PATCH" => {
            suspend_or_resume(&data, &account, &request).await?;
            show(&data, account_id, Response::ok).await
        }
        "DELETE" => {
            order_deletion(&data, account_id, clock::now()).await?;
            tracing::info!(account_id, source_address = request.source_address(), "deletion of an account ordered");
            show(&data, account_id, Response::accepted).await
        }
        _ => show(&data, account_id, Response::ok).await,
    }
}

async fn suspend_or_resume(data: &AccountData<'_>, account: &Account, request: &Request) -> Result<(), Error> {
    let AccountSuspension { suspended } = request.body_as()?;
    if account.deleting_since.is_some() {
        return Err(Error::Conflict("the account is being deleted"));
    }
    let suspended_at = suspended.then(clock::now);
    set_suspension(data.directory, data.connections, &account.account_id, suspended_at).await
}

async fn show(
    data: &AccountData<'_>,
    account_id: &str,
    respond: fn(AccountDetails) -> Response,
) -> Result<Response, Error> {
    let account = data.directory.account(account_id).await?.ok_or(Error::NotFound)?;
    let agents = data.directory.agents(account_id).await?;
    let progress = match account.deleting_since {
        Some(_) => data.chats.account_deletion_progress(account_id).await?,
        None => None,
    };
    Ok(respond(AccountDetails::new(&account, &agents, progress)))
}
