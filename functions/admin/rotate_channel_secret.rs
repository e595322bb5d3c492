//! POST /admin/channels/{channel_id}/signing-secret/rotate: creates a new signing secret for an API channel.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::channels::channel::ChannelKind;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth, secret_rotation};
use shared::store::connections::Connections;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let channel = directory.channel_of_account(&caller.account_id, &request.path_segment("channel_id")).await?;
    if channel.settings.kind() == ChannelKind::Widget {
        return Err(Error::Conflict("a widget has no signing secret"));
    }
    let rotation = secret_rotation::rotated(&channel.signing_secrets, &request.optional_body_as()?, clock::now())?;
    directory.save_channel_signing_secrets(&channel, rotation.secrets).await?;
    Ok(Response::ok(rotation.body))
}
