//! /admin/bots: POST connects a bot and assigns it to channels, GET lists the bots. /admin/bots/{bot_id}: GET returns a
//! bot, PATCH changes it, DELETE deletes it.
//!
//! Costs these table requests:
//! - session: one read, plus two writes at most once a minute (the session and the agent's presence)
//! - POST: one read of the provider, and one transaction that writes the bot, its token and its channels
//! - listing: one query of the index per megabyte of bots
//! - GET, PATCH and DELETE of a single bot: one read
//! - PATCH: one transaction that writes the bot and the channels that were added or removed, or none if nothing changes
//! - DELETE: one write of the token, one write of each channel, and one write of the bot
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::domain::bot::Bot;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, random_ids_and_secrets};
use shared::service::auth;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::wire::admin::{self, NewBot};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    if !request.has_path_segment("bot_id") {
        return match request.method.as_str() {
            "POST" => create(&directory, &caller, &request).await,
            _ => list(&directory, &caller).await,
        };
    }
    let bot = directory.bot_of_account(&caller.account_id, &request.path_segment("bot_id")).await?;
    match request.method.as_str() {
        "PATCH" => {
            let after = admin::apply_bot_patch(&request.json()?, &bot)?;
            directory.save_bot(&bot, &after).await?;
            Ok(Response::ok(admin::bot_json(&after)))
        }
        "DELETE" => {
            directory.delete_bot(&bot).await?;
            Ok(Response::ok(json!({ "bot_id": bot.bot_id, "deleted": true })))
        }
        _ => Ok(Response::ok(admin::bot_json(&bot))),
    }
}

async fn create(directory: &Directory, caller: &Session, request: &Request) -> Result<Response, Error> {
    let NewBot { provider_id, token, name, channel_ids, answer_within } = admin::parse_new_bot(&request.json()?)?;
    if directory.provider(&provider_id).await?.is_none() {
        return Err(Error::field("provider_id", "is not a provider"));
    }
    let (bot_id, signing_secret) =
        (random_ids_and_secrets::random_identifier()?, random_ids_and_secrets::random_signing_secret()?);
    let (account_id, created_at) = (caller.account_id.clone(), clock::now());
    let bot =
        Bot { bot_id, account_id, provider_id, token, name, channel_ids, answer_within, signing_secret, created_at };
    directory.create_bot(&bot).await?;
    Ok(Response::created(admin::created_bot_json(&bot)))
}

async fn list(directory: &Directory, caller: &Session) -> Result<Response, Error> {
    let bots: Vec<Value> = directory.account_bots(&caller.account_id).await?.iter().map(admin::bot_json).collect();
    Ok(Response::ok(json!({ "bots": bots })))
}
