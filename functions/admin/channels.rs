//! /admin/channels: POST creates an API channel or a widget. For an API channel, the response contains the secret URL,
//! which is never returned again. GET lists the channels. /admin/channels/{channel_id}: GET returns a channel, PATCH
//! changes it, DELETE deletes it. /admin/channels/{channel_id}/rotate: POST creates a new URL.
//! /admin/channels/{channel_id}/signing-secret/rotate: POST creates a new signing secret.
//! /admin/channels/{channel_id}/test: POST sends a sample message to the integrator.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use shared::delivery::outbound_client::OutboundClient;
use shared::domain::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::channel::{Channel, ChannelKind};
use shared::domain::sha256;
use shared::domain::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::{PublicBaseUrl, channel_endpoint};
use shared::runtime::{clock, random_ids_and_secrets};
use shared::service::{audit, auth, receiver_test, secret_rotation};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::wire::admin;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Connections, Chats, OutboundClient, PublicBaseUrl);

async fn handle(
    (directory, connections, chats, outbound, public_url): Dependencies,
    request: Request,
) -> Result<Response, Error> {
    let base_url = &public_url.of_request(&request);
    let caller = auth::admin(&connections, &request).await?;
    let guard = outbound.guard();
    let directory = audit::by_agent(&directory, &caller, &request);
    if !request.has_path_segment("channel_id") {
        return match request.method.as_str() {
            "POST" => create(&directory, guard, &caller, (&request, base_url)).await,
            _ => list(&directory, &caller, base_url).await,
        };
    }
    let channel = directory.channel_of_account(&caller.account_id, &request.path_segment("channel_id")).await?;
    match (request.method.as_str(), request.last_route_segment().as_str()) {
        ("POST", "test") => {
            let now = clock::now();
            connections.count_receiver_test(&caller.account_id, now)?;
            let (kind, id, name) = (AuditedKind::Channel, &*channel.channel_id, &*channel.settings.name);
            directory.record(&channel.account_id, AuditedChange::named(AuditAction::Tested, kind, id, name)).await?;
            receiver_test::test_integrator(&outbound, &channel, now).await
        }
        ("POST", _) if request.has_route_segment("signing-secret") => {
            rotate_signing_secret(&directory, &request, &channel).await
        }
        ("POST", _) => rotate(&directory, (&request, base_url), &channel).await,
        ("PATCH", _) => update(&directory, guard, (&request, base_url), channel).await,
        ("DELETE", _) => delete(&directory, &channel).await,
        _ => {
            let now = clock::now();
            let refused = chats.refusal_counts(&channel.channel_id, now).await?;
            Ok(Response::ok(admin::channel_details_json(&channel, base_url, &refused, now)))
        }
    }
}

async fn create(
    directory: &Directory,
    guard: &SsrfGuard,
    caller: &Session,
    (request, base_url): (&Request, &str),
) -> Result<Response, Error> {
    let (account_id, body) = (&caller.account_id, request.json()?);
    let settings = match admin::parse_channel_kind(&body)? {
        ChannelKind::Api => admin::parse_new_api_channel(&body, guard)?,
        ChannelKind::Widget => admin::parse_new_widget(&body, directory.account_name(account_id).await?, guard)?,
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

async fn list(directory: &Directory, caller: &Session, base_url: &str) -> Result<Response, Error> {
    let channels = directory.channels(&caller.account_id).await?;
    let channels: Vec<Value> = channels.iter().map(|channel| admin::channel_json(channel, base_url)).collect();
    Ok(Response::ok(json!({ "channels": channels })))
}

async fn update(
    directory: &Directory,
    guard: &SsrfGuard,
    (request, base_url): (&Request, &str),
    channel: Channel,
) -> Result<Response, Error> {
    let settings = admin::apply_channel_patch(&request.json()?, &channel, guard)?;
    directory.check_audience_ids(&channel.account_id, Some(&channel.settings), &settings).await?;
    directory.save_channel_settings(&channel, &settings).await?;
    Ok(Response::ok(admin::channel_json(&Channel { settings, ..channel }, base_url)))
}

async fn rotate(
    directory: &Directory,
    (request, base_url): (&Request, &str),
    before: &Channel,
) -> Result<Response, Error> {
    if before.settings.kind() == ChannelKind::Widget {
        return Err(Error::Conflict("a widget has no secret address"));
    }
    let (mut channel, now) = (before.clone(), clock::now());
    let old_until = now.plus(Duration::from_secs(admin::parse_overlap_seconds(&request.json_or_empty()?)?));
    let secret = random_ids_and_secrets::random_token()?;
    channel.rotate(sha256::digest(&secret), now, old_until);
    directory.save_channel_secrets(before, &channel).await?;
    let endpoint = channel_endpoint(base_url, &secret, &channel.channel_id);
    Ok(Response::ok(json!({ "endpoint": endpoint, "old_endpoint_valid_until": old_until.seconds() })))
}

async fn rotate_signing_secret(directory: &Directory, request: &Request, before: &Channel) -> Result<Response, Error> {
    if before.settings.kind() == ChannelKind::Widget {
        return Err(Error::Conflict("a widget has no signing secret"));
    }
    let rotation = secret_rotation::rotated(&before.signing_secrets, &request.json_or_empty()?, clock::now())?;
    directory.save_channel_signing_secrets(before, rotation.secrets).await?;
    Ok(Response::ok(rotation.body))
}

async fn delete(directory: &Directory, channel: &Channel) -> Result<Response, Error> {
    directory.delete_channel(channel).await?;
    Ok(Response::ok(json!({ "channel_id": channel.channel_id, "deleted": true })))
}
