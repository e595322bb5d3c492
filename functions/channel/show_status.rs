//! `GET {base_url}/<random_string>/<CHANNEL_PUBLIC_ID>/status` (specification, A-1): returns 1 if an agent in the
//! channel's audience is online, otherwise 0. Returns 0 for a disabled channel and for the
//! channels of a suspended account.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::store::connections::Connections;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("GET")?;
    let now = clock::now();
    let (channel_id, secret) = (request.path_segment("channel_id"), request.path_segment("secret"));
    let channel = directory.channel_at_endpoint(&channel_id, &secret, now).await?;
    let is_suspended = directory.cached_settings(&channel.account_id).await?.suspended_at.is_some();
    if !channel.settings.enabled || is_suspended {
        return Ok(Response::ok(json!(0)));
    }
    let audience = directory.audience(&channel).await?;
    let presences = connections.presences(&channel.account_id).await?;
    Ok(Response::ok(json!(u8::from(audience.has_online_agent(&presences, now)))))
}
