//! /admin/channels: POST creates an API channel or a widget. For an API channel, the response contains the secret URL,
//! which is never returned again. GET lists the channels.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use serde_json::Value;
use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::{PublicBaseUrl, channel_endpoint};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::{Channels, CreatedChannel, NewChannel};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, SsrfGuard, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, POST")?;
    let (directory, connections, guard, public_url) = dependencies;
    let caller = auth::admin(&connections, &request).await?;
    let (account_id, base_url) = (&caller.account_id, &public_url.of_request(&request));
    match request.method.as_str() {
        "POST" => {
            let directory = audit::by_agent(&directory, &caller, &request);
            create((&directory, &guard), account_id, &request.json()?, base_url).await
        }
        "GET" => list(&directory, account_id, base_url).await,
        _ => Err(request.unexpected_method()),
    }
}

async fn create(
    (directory, guard): (&Directory, &SsrfGuard),
    account_id: &str,
    body: &Value,
    base_url: &str,
) -> Result<Response, Error> {
    let settings = match NewChannel::read(body)? {
        NewChannel::Api(new) => new.into_settings(guard)?,
        NewChannel::Widget(new) => new.into_settings(directory.account_name(account_id).await?)?,
    };
    directory.check_audience_ids(account_id, None, &settings).await?;
    let now = clock::now();
    let (channel, secret) = directory.create_channel(account_id, settings, now).await?;
    let endpoint = secret.map(|secret| channel_endpoint(base_url, &secret, &channel.channel_id));
    Ok(Response::created(CreatedChannel::new(&channel, base_url, endpoint, now)))
}

async fn list(directory: &Directory, account_id: &str, base_url: &str) -> Result<Response, Error> {
    let channels = directory.channels(account_id).await?;
    Ok(Response::ok(Channels::new(&channels, base_url, clock::now())))
}
