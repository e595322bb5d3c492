//! GET, PUT /admin/settings: what holds for the whole account, with the one webhook address of the specification.
//! /admin/settings/webhooks: POST adds another; /admin/settings/webhooks/{webhook_id}: PATCH, DELETE; .../rotate,
//! .../test: POST.

use std::process::ExitCode;

use shared::delivery::outbound::Outbound;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::account_settings::Desk;
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, Outbound);

async fn handle((directory, chats, connections, outbound): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let (account_id, now) = (&caller.account_id, clock::now());
    let desk = Desk { account_id, directory: &directory, chats: &chats, outbound: &outbound, now };
    let webhook_id = request.segment("webhook_id");
    match (request.method.as_str(), request.route_end().as_str()) {
        ("GET", "settings") => desk.show().await,
        ("PUT", "settings") => desk.set(&request.json()?).await,
        ("POST", "webhooks") => desk.add(&request.json()?).await,
        ("PATCH", _) => desk.change(&webhook_id, &request.json()?).await,
        ("DELETE", _) => desk.remove(&webhook_id).await,
        ("POST", "rotate") => desk.rotate(&webhook_id, &request.json_or_empty()?).await,
        ("POST", "test") => desk.test(&webhook_id, &request.json_or_empty()?).await,
        _ => Err(Error::MethodNotAllowed("GET, PUT, POST, PATCH, DELETE")),
    }
}
