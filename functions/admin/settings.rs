//! GET and PUT /admin/settings: the settings of the account, including the single webhook URL of the specification.
//! /admin/settings/webhooks: POST adds a webhook. /admin/settings/webhooks/{webhook_id}: PATCH, DELETE; .../rotate,
//! .../test: POST.
//!
//! Table requests:
//! - session: one read; at most once a minute also two writes, to the session and the agent's presence
//! - GET: two reads, of settings and trigger rules
//! - PUT: one read and one write of the settings; one write of the rules if the body contains them, else one read;
//!   with `retention_days` in the body one read more, and one write if the retention changes
//! - POST, PATCH and DELETE of a webhook: one read and one write
//! - rotate: two reads and one write
//! - test: one read, and one HTTP request to the webhook
//!
//! A change that loses a race is repeated. An agent without the admin role is refused with 403 after the read of the
//! session.

use std::process::ExitCode;

use shared::delivery::outbound_client::OutboundClient;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::account_settings::AccountSettingsService;
use shared::service::auth;
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
        ("POST", "test") => settings.send_test_event(&webhook_id, &request.json_or_empty()?).await,
        _ => Err(Error::MethodNotAllowed("GET, PUT, POST, PATCH, DELETE")),
    }
}
