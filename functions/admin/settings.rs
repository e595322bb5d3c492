//! GET and PUT /admin/settings: returns or changes the account's settings, which include the URL of its first webhook
//! (specification, part C). /admin/settings/webhooks: POST adds a webhook. /admin/settings/webhooks/{webhook_id}: PATCH
//! changes a webhook, DELETE deletes it. /admin/settings/webhooks/{webhook_id}/rotate: POST creates a new signing
//! secret. /admin/settings/webhooks/{webhook_id}/test: POST sends a sample event.
//!
//! If a concurrent request changes the settings, they are read and edited again. An agent without the admin role gets
//! 403 after the session has been read.

use std::process::ExitCode;

use shared::delivery::outbound_client::OutboundClient;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::account_settings::AccountSettingsService;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, OutboundClient);

async fn handle((directory, chats, connections, outbound): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let (account_id, now) = (&caller.account_id, clock::now());
    let settings =
        AccountSettingsService { account_id, directory: &directory, chats: &chats, outbound: &outbound, now };
    let webhook_id = request.path_segment("webhook_id");
    match (request.method.as_str(), request.last_route_segment().as_str()) {
        ("GET", "settings") => settings.get().await,
        ("PUT", "settings") => settings.update(&request.json()?).await,
        ("POST", "webhooks") => settings.add_webhook(&request.json()?).await,
        ("PATCH", _) => settings.update_webhook(&webhook_id, &request.json()?).await,
        ("DELETE", _) => settings.delete_webhook(&webhook_id).await,
        ("POST", "rotate") => settings.rotate_signing_secret(&webhook_id, &request.json_or_empty()?).await,
        ("POST", "test") => {
            connections.count_receiver_test(account_id, now)?;
            settings.send_test_event(&webhook_id, &request.json_or_empty()?).await
        }
        _ => Err(Error::MethodNotAllowed("GET, PUT, POST, PATCH, DELETE")),
    }
}
