//! POST /admin/channels/{channel_id}/rotate: creates a new secret URL for an API channel. The response contains the
//! URL, which is never returned again.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::channels::channel::ChannelKind;
use shared::domain::sha256;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::{PublicBaseUrl, channel_endpoint};
use shared::runtime::{clock, random_ids_and_secrets};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::RotatedEndpoint;
use shared::wire::admin::signing_secret::SecretRotation;
use shared::wire::fields::urls::WebUrl;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, PublicBaseUrl);

async fn handle((directory, connections, public_url): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let before = directory.channel_of_account(&caller.account_id, &request.path_segment("channel_id")).await?;
    if before.settings.kind() == ChannelKind::Widget {
        return Err(Error::Conflict("a widget has no secret address"));
    }
    let (mut channel, now) = (before.clone(), clock::now());
    let old_until = request.optional_body_as::<SecretRotation>()?.old_valid_until(now);
    let secret = random_ids_and_secrets::random_token()?;
    channel.rotate(sha256::digest(&secret), now, old_until);
    directory.save_channel_secrets(&before, &channel).await?;
    let endpoint = WebUrl(channel_endpoint(&public_url.of_request(&request), &secret, &channel.channel_id));
    Ok(Response::ok(RotatedEndpoint { endpoint, old_endpoint_valid_until: old_until.into() }))
}
