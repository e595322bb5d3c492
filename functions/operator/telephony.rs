//! GET, PATCH and DELETE /operator/accounts/{account_id}/telephony: returns, changes or deletes the telephony provider
//! of an account, for the operator. The credentials of the provider are never returned.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use shared::domain::calls::telephony::TelephonyEditor;
use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::runtime::random_ids_and_secrets::OperatorKey;
use shared::service::telephony_settings::TelephonySettings;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::wire::admin::telephony_settings::DeletedTelephony;
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, SsrfGuard, OperatorKey, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PATCH")?;
    let (directory, chats, guard, operator_key, public_url) = dependencies;
    auth::operator(&operator_key, &request)?;
    let account_id = &request.path_segment("account_id");
    if !directory.has_account(account_id).await? {
        return Err(Error::NotFound);
    }
    let directory = audit::by_operator(&directory, &request);
    let service = TelephonySettings {
        account_id,
        directory: &directory,
        chats: &chats,
        guard: &guard,
        editor: TelephonyEditor::Operator,
    };
    let telephony = match request.method.as_str() {
        "GET" => service.current().await?,
        "PATCH" => Some(service.patch(&request.body_as()?).await?),
        "DELETE" => {
            service.delete().await?;
            return Ok(Response::ok(DeletedTelephony { deleted: True }));
        }
        _ => return Err(request.unexpected_method()),
    };
    Ok(Response::ok(service.show(telephony.as_ref(), &public_url.of_request(&request)).await?))
}
