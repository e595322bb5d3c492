//! POST /operator/accounts/{account_id}/call-balance: adds minutes to the call balance of an account. A repeated
//! request with the same `reference` adds nothing.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::OperatorKey;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::wire::admin::telephony_settings::{CallBalance, CallBalanceTopUp};
use shared::wire::fields::values::{Text, Whole};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, OperatorKey);

async fn handle((directory, chats, operator_key): Dependencies, request: Request) -> Result<Response, Error> {
    auth::operator(&operator_key, &request)?;
    let account_id = request.path_segment("account_id");
    let CallBalanceTopUp { minutes: Whole(minutes), reference: Text(reference) } = request.body_as()?;
    if !directory.has_account(&account_id).await? {
        return Err(Error::NotFound);
    }
    let topped_up = AuditedChange::unnamed(AuditAction::ToppedUp, AuditedKind::CallBalance, &*reference);
    audit::by_operator(&directory, &request).record(&account_id, topped_up).await?;
    let balance_minutes = chats.top_up_call_balance(&account_id, minutes, &reference, clock::now()).await?;
    Ok(Response::ok(CallBalance { balance_minutes }))
}
