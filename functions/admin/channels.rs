//! /admin/channels: POST creates an API channel or a widget. For an API channel, the response contains the secret URL,
//! which is never returned again. GET lists the channels.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::domain::channel::ChannelKind;
use shared::domain::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::{PublicBaseUrl, channel_endpoint};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, SsrfGuard, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
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
    let settings = match admin::parse_channel_kind(body)? {
        ChannelKind::Api => admin::parse_new_api_channel(body, guard)?,
        ChannelKind::Widget => admin::parse_new_widget(body, directory.account_name(account_id).await?, guard)?,
    };
    directory.check_audience_ids(account_id, None, &settings).await?;
    let (channel, secret) = directory.create_channel(account_id, settings, clock::now()).await?;
    Ok(Response::created(match secret {
        Some(secret) => {
            let endpoint = channel_endpoint(base_url, &secret, &channel.channel_id);
            admin::created_api_channel_json(&channel, base_url, &endpoint)
        }
        None => admin::channel_json(&channel, base_url),
    }))
}

async fn list(directory: &Directory, account_id: &str, base_url: &str) -> Result<Response, Error> {
    let channels = directory.channels(account_id).await?;
    let channels: Vec<Value> = channels.iter().map(|channel| admin::channel_json(channel, base_url)).collect();
    Ok(Response::ok(json!({ "channels": channels })))
}
