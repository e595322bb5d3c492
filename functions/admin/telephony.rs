//! GET, PATCH and DELETE /admin/telephony: returns, changes or deletes the account's telephony provider, which makes
//! its phone calls. The credentials of the provider are never returned.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::calls::telephony::TelephonyEditor;
use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::telephony_settings::TelephonySettings;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::telephony_settings::DeletedTelephony;
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, SsrfGuard, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PATCH")?;
    let (directory, chats, connections, guard, public_url) = dependencies;
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let account_id = &caller.account_id;
    let service = TelephonySettings {
        account_id,
        directory: &directory,
        chats: &chats,
        guard: &guard,
        editor: TelephonyEditor::Admin,
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
