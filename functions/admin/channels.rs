//! /admin/channels: POST makes a channel (its address is shown once), GET lists them;
//! /admin/channels/{channel_id}: GET, PATCH, DELETE; .../rotate: POST gives it a new address.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use shared::delivery::guard::Guard;
use shared::domain::channel::Channel;
use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::store::connections::{Connections, Session};
use shared::store::directory::Directory;
use shared::wire::admin;
use shared::{auth, clock, secret};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Uses = (Directory, Connections, Guard);

async fn handle((directory, connections, guard): Uses, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    match (request.method.as_str(), request.has_segment("channel_id"), request.ends_with("/rotate")) {
        ("POST", false, _) => create(&directory, &guard, &caller, &request).await,
        ("GET", false, _) => list(&directory, &caller).await,
        ("POST", true, true) => rotate(&directory, &caller, &request).await,
        ("GET", true, false) => Ok(Response::ok(admin::channel(&find(&directory, &caller, &request).await?))),
        ("PATCH", true, false) => change(&directory, &guard, &caller, &request).await,
        ("DELETE", true, false) => delete(&directory, &caller, &request).await,
        _ => Err(Error::MethodNotAllowed("GET, POST, PATCH or DELETE")),
    }
}

async fn create(directory: &Directory, guard: &Guard, caller: &Session, request: &Request) -> Result<Response, Error> {
    let settings = admin::new_channel(&request.json()?, guard)?;
    directory.check_agents(&caller.account_id, &settings.agent_ids).await?;
    let (address_secret, channel_id) = (secret::token()?, secret::identifier()?);
    let signing_secret = secret::signing_secret()?;
    let account_id = caller.account_id.clone();
    let hash = secret::hash(&address_secret);
    let channel = Channel::new(channel_id, account_id, settings, hash, signing_secret, clock::now());
    directory.create_channel(&channel).await?;
    let endpoint = endpoint(request, &address_secret, &channel);
    Ok(Response::created(admin::created_channel(&channel, &endpoint)))
}

async fn list(directory: &Directory, caller: &Session) -> Result<Response, Error> {
    let channels: Vec<Value> = directory.channels(&caller.account_id).await?.iter().map(admin::channel).collect();
    Ok(Response::ok(json!({ "channels": channels })))
}

/// A channel of the caller's account; another account's does not exist for them.
async fn find(directory: &Directory, caller: &Session, request: &Request) -> Result<Channel, Error> {
    let channel = directory.channel(&request.segment("channel_id")).await?;
    channel.filter(|channel| channel.account_id == caller.account_id).ok_or(Error::NotFound)
}

async fn change(directory: &Directory, guard: &Guard, caller: &Session, request: &Request) -> Result<Response, Error> {
    let mut channel = find(directory, caller, request).await?;
    channel.settings = admin::changed_channel(&request.json()?, &channel, guard)?;
    directory.check_agents(&caller.account_id, &channel.settings.agent_ids).await?;
    directory.save_channel(&channel).await?;
    Ok(Response::ok(admin::channel(&channel)))
}

async fn rotate(directory: &Directory, caller: &Session, request: &Request) -> Result<Response, Error> {
    let mut channel = find(directory, caller, request).await?;
    let now = clock::now();
    let old_until = now.after(Duration::from_secs(admin::overlap(&request.json_or_empty()?)?));
    let address_secret = secret::token()?;
    channel.rotate(secret::hash(&address_secret), now, old_until);
    directory.save_channel(&channel).await?;
    let endpoint = endpoint(request, &address_secret, &channel);
    Ok(Response::ok(json!({ "endpoint": endpoint, "old_endpoint_valid_until": old_until.seconds() })))
}

async fn delete(directory: &Directory, caller: &Session, request: &Request) -> Result<Response, Error> {
    let channel = find(directory, caller, request).await?;
    directory.delete_channel(&channel.channel_id).await?;
    Ok(Response::ok(json!({ "channel_id": channel.channel_id, "deleted": true })))
}

/// {base_url}/<random_string>/<CHANNEL_PUBLIC_ID>, on the host that the admin called.
fn endpoint(request: &Request, address_secret: &str, channel: &Channel) -> String {
    format!("{}/channel/{address_secret}/{}", request.base_url(), channel.channel_id)
}
