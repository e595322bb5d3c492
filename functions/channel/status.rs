//! A-1, `GET {base_url}/<random_string>/<CHANNEL_PUBLIC_ID>/status`: 1 when an agent who receives the channel's
//! chats is online, else 0, also for a channel that is switched off. One read, two or three when the channel is not cached.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::presence;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::store::connections::Connections;
use shared::store::directory::{self, Directory};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.only("GET")?;
    let now = clock::now();
    let channel = directory.cached_channel(&request.segment("channel_id")).await?;
    let is_open = directory::opens(channel.as_deref(), &request.segment("secret"), now);
    let channel = channel.filter(|_| is_open).ok_or(Error::NotFound)?;
    if !channel.settings.enabled {
        return Ok(Response::ok(json!(0)));
    }
    let audience = directory.audience(&channel).await?;
    let presences = connections.presences(&channel.account_id).await?;
    let online = presence::any_online(&presences, |agent_id| audience.includes(agent_id), now);
    Ok(Response::ok(json!(u8::from(online))))
}
