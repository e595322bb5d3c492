//! /admin/channels: POST creates a channel and returns its secret URL, which no later response contains; GET lists the
//! channels. /admin/channels/{channel_id}: GET returns a channel, PATCH changes it, DELETE deletes it.
//! /admin/channels/{channel_id}/rotate: POST creates a new URL.
//!
//! Costs these table requests:
//! - session: one read, plus two writes at most once a minute (the session and the agent's presence)
//! - POST: one query of the roster (the account's agents and departments) if the body names agents or departments, and
//!   one write
//! - listing: one query of the index per megabyte of channels
//! - GET, PATCH, DELETE and rotate: one read
//! - GET: also two queries, which count the messages that the channel rejected today and yesterday
//! - PATCH: one query of the roster if the body adds agents or departments, and one write, or none if nothing changes
//! - DELETE: one write. If the channel has a bot, one read and one transaction first remove the channel from the bot
//! - rotate: one write
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use shared::domain::channel::Channel;
use shared::domain::sha256;
use shared::domain::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, random_ids_and_secrets};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::wire::admin;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Connections, Chats, SsrfGuard);

async fn handle((directory, connections, chats, guard): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    if !request.has_path_segment("channel_id") {
        return match request.method.as_str() {
            "POST" => create(&directory, &guard, &caller, &request).await,
            _ => list(&directory, &caller).await,
        };
    }
    let channel = directory.channel_of_account(&caller.account_id, &request.path_segment("channel_id")).await?;
    match request.method.as_str() {
        "POST" => rotate(&directory, &request, &channel).await,
        "PATCH" => update(&directory, &guard, &request, channel).await,
        "DELETE" => delete(&directory, &channel).await,
        _ => {
            let refused = chats.refusal_counts(&channel.channel_id, clock::now()).await?;
            Ok(Response::ok(admin::channel_with_refusals_json(&channel, &refused)))
        }
    }
}

async fn create(
    directory: &Directory,
    guard: &SsrfGuard,
    caller: &Session,
    request: &Request,
) -> Result<Response, Error> {
    let settings = admin::parse_new_channel(&request.json()?, guard)?;
    directory.check_audience_ids(&caller.account_id, None, &settings).await?;
    let (channel, secret) = directory.create_channel(&caller.account_id, settings, clock::now()).await?;
    let endpoint = request.channel_endpoint(&secret, &channel.channel_id);
    Ok(Response::created(admin::created_channel_json(&channel, &endpoint)))
}

async fn list(directory: &Directory, caller: &Session) -> Result<Response, Error> {
    let channels: Vec<Value> = directory.channels(&caller.account_id).await?.iter().map(admin::channel_json).collect();
    Ok(Response::ok(json!({ "channels": channels })))
}

async fn update(
    directory: &Directory,
    guard: &SsrfGuard,
    request: &Request,
    channel: Channel,
) -> Result<Response, Error> {
    let settings = admin::apply_channel_patch(&request.json()?, &channel, guard)?;
    directory.check_audience_ids(&channel.account_id, Some(&channel.settings), &settings).await?;
    directory.save_channel_settings(&channel, &settings).await?;
    Ok(Response::ok(admin::channel_json(&Channel { settings, ..channel })))
}

async fn rotate(directory: &Directory, request: &Request, before: &Channel) -> Result<Response, Error> {
    let (mut channel, now) = (before.clone(), clock::now());
    let old_until = now.plus(Duration::from_secs(admin::parse_overlap_seconds(&request.json_or_empty()?)?));
    let secret = random_ids_and_secrets::random_token()?;
    channel.rotate(sha256::digest(&secret), now, old_until);
    directory.save_channel_secrets(before, &channel).await?;
    let endpoint = request.channel_endpoint(&secret, &channel.channel_id);
    Ok(Response::ok(json!({ "endpoint": endpoint, "old_endpoint_valid_until": old_until.seconds() })))
}

async fn delete(directory: &Directory, channel: &Channel) -> Result<Response, Error> {
    directory.delete_channel(channel).await?;
    Ok(Response::ok(json!({ "channel_id": channel.channel_id, "deleted": true })))
}
