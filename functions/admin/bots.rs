//! /admin/bots: POST connects a bot and puts it in front of channels, GET lists them; /admin/bots/{bot_id}: GET,
//! PATCH, DELETE.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::domain::bot::Bot;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, secret};
use shared::service::auth;
use shared::store::connections::{Connections, Session};
use shared::store::directory::Directory;
use shared::wire::admin::{self, BotSettings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    if !request.has_segment("bot_id") {
        return match request.method.as_str() {
            "POST" => create(&directory, &caller, &request).await,
            _ => list(&directory, &caller).await,
        };
    }
    let bot = directory.bot_of(&caller.account_id, &request.segment("bot_id")).await?;
    match request.method.as_str() {
        "PATCH" => {
            let after = admin::changed_bot(&request.json()?, &bot)?;
            directory.save_bot(&bot, &after).await?;
            Ok(Response::ok(admin::bot(&after)))
        }
        "DELETE" => {
            directory.delete_bot(&bot).await?;
            Ok(Response::ok(json!({ "bot_id": bot.bot_id, "deleted": true })))
        }
        _ => Ok(Response::ok(admin::bot(&bot))),
    }
}

async fn create(directory: &Directory, caller: &Session, request: &Request) -> Result<Response, Error> {
    let BotSettings { provider_id, token, name, channel_ids, answer_within } = admin::new_bot(&request.json()?)?;
    if directory.provider(&provider_id).await?.is_none() {
        return Err(Error::field("provider_id", "is not a provider"));
    }
    let (bot_id, signing_secret) = (secret::identifier()?, secret::signing_secret()?);
    let (account_id, created_at) = (caller.account_id.clone(), clock::now());
    let bot =
        Bot { bot_id, account_id, provider_id, token, name, channel_ids, answer_within, signing_secret, created_at };
    directory.create_bot(&bot).await?;
    Ok(Response::created(admin::created_bot(&bot)))
}

async fn list(directory: &Directory, caller: &Session) -> Result<Response, Error> {
    let bots: Vec<Value> = directory.account_bots(&caller.account_id).await?.iter().map(admin::bot).collect();
    Ok(Response::ok(json!({ "bots": bots })))
}
