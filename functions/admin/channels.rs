//! /admin/channels: POST makes a channel (its address is shown once), GET lists them;
//! /admin/channels/{channel_id}: GET (two reads more, for the messages it refused), PATCH, DELETE; .../rotate: POST gives it
//! a new address.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use shared::domain::channel::Channel;
use shared::domain::target_guard::Guard;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, secret};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::{Connections, Session};
use shared::store::directory::Directory;
use shared::wire::admin;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Connections, Chats, Guard);

async fn handle((directory, connections, chats, guard): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    if !request.has_segment("channel_id") {
        return match request.method.as_str() {
            "POST" => create(&directory, &guard, &caller, &request).await,
            _ => list(&directory, &caller).await,
        };
    }
    let channel = directory.channel_of(&caller.account_id, &request.segment("channel_id")).await?;
    match request.method.as_str() {
        "POST" => rotate(&directory, &request, &channel).await,
        "PATCH" => change(&directory, &guard, &request, channel).await,
        "DELETE" => delete(&directory, &channel).await,
        _ => {
            let refused = chats.refusals(&channel.channel_id, clock::now()).await?;
            Ok(Response::ok(admin::channel_with_refusals(&channel, &refused)))
        }
    }
}

async fn create(directory: &Directory, guard: &Guard, caller: &Session, request: &Request) -> Result<Response, Error> {
    let settings = admin::new_channel(&request.json()?, guard)?;
    directory.check_named(&caller.account_id, None, &settings).await?;
    let (channel, secret) = directory.create_channel(&caller.account_id, settings, clock::now()).await?;
    let endpoint = request.channel_endpoint(&secret, &channel.channel_id);
    Ok(Response::created(admin::created_channel(&channel, &endpoint)))
}

async fn list(directory: &Directory, caller: &Session) -> Result<Response, Error> {
    let channels: Vec<Value> = directory.channels(&caller.account_id).await?.iter().map(admin::channel).collect();
    Ok(Response::ok(json!({ "channels": channels })))
}

async fn change(directory: &Directory, guard: &Guard, request: &Request, channel: Channel) -> Result<Response, Error> {
    let settings = admin::changed_channel(&request.json()?, &channel, guard)?;
    directory.check_named(&channel.account_id, Some(&channel.settings), &settings).await?;
    directory.save_channel_settings(&channel, &settings).await?;
    Ok(Response::ok(admin::channel(&Channel { settings, ..channel })))
}

async fn rotate(directory: &Directory, request: &Request, before: &Channel) -> Result<Response, Error> {
    let (mut channel, now) = (before.clone(), clock::now());
    let old_until = now.after(Duration::from_secs(admin::overlap(&request.json_or_empty()?)?));
    let secret = secret::token()?;
    channel.rotate(secret::hash(&secret), now, old_until);
    directory.save_channel_secrets(before, &channel).await?;
    let endpoint = request.channel_endpoint(&secret, &channel.channel_id);
    Ok(Response::ok(json!({ "endpoint": endpoint, "old_endpoint_valid_until": old_until.seconds() })))
}

async fn delete(directory: &Directory, channel: &Channel) -> Result<Response, Error> {
    directory.delete_channel(channel).await?;
    Ok(Response::ok(json!({ "channel_id": channel.channel_id, "deleted": true })))
}
