//! /admin/bots: POST connects a bot and assigns it to channels, GET lists the bots. /admin/bots/{bot_id}: GET returns a
//! bot, PATCH changes it, DELETE deletes it. /admin/bots/{bot_id}/rotate: POST creates a new signing secret.
//! /admin/bots/{bot_id}/test: POST sends a sample event. /admin/bots/{bot_id}/activity: GET returns the bot's activity
//! in the last hour. /admin/providers: GET lists the providers that a bot can be connected to.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::delivery::outbound_client::OutboundClient;
use shared::domain::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::bot::Bot;
use shared::domain::signing_secret::SigningSecrets;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, random_ids_and_secrets};
use shared::service::bot_activity::bot_activity;
use shared::service::{audit, auth, receiver_test, secret_rotation};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::wire::admin::{self, NewBot};
use shared::wire::bot_sample;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Connections, Chats, OutboundClient);

async fn handle((directory, connections, chats, outbound): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let route_end = request.last_route_segment();
    if !request.has_path_segment("bot_id") {
        return match (request.method.as_str(), route_end.as_str()) {
            ("POST", _) => create(&directory, &caller, &request).await,
            (_, "providers") => list_providers(&directory).await,
            _ => list(&directory, &caller).await,
        };
    }
    let bot = directory.bot_of_account(&caller.account_id, &request.path_segment("bot_id")).await?;
    match (request.method.as_str(), route_end.as_str()) {
        ("POST", "test") => {
            connections.count_receiver_test(&caller.account_id, clock::now())?;
            test(&directory, &outbound, &request, &bot).await
        }
        ("POST", _) => rotate_signing_secret(&directory, &request, &bot).await,
        ("GET", "activity") => {
            let activity = bot_activity(&chats, &bot, clock::now()).await?;
            Ok(Response::ok(admin::bot_activity_json(&activity)))
        }
        ("PATCH", _) => {
            let after = admin::apply_bot_patch(&request.json()?, &bot)?;
            directory.save_bot(&bot, &after).await?;
            Ok(Response::ok(admin::bot_json(&after)))
        }
        ("DELETE", _) => {
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
    let bot_id = random_ids_and_secrets::random_identifier()?;
    let signing_secrets = SigningSecrets::new(random_ids_and_secrets::random_signing_secret()?);
    let (account_id, created_at) = (caller.account_id.clone(), clock::now());
    let is_token_created = token.is_none();
    let token = token.map_or_else(random_ids_and_secrets::random_token, Ok)?;
    let bot =
        Bot { bot_id, account_id, provider_id, token, name, channel_ids, answer_within, signing_secrets, created_at };
    directory.create_bot(&bot).await?;
    Ok(Response::created(admin::created_bot_json(&bot, is_token_created)))
}

async fn list(directory: &Directory, caller: &Session) -> Result<Response, Error> {
    let bots: Vec<Value> = directory.account_bots(&caller.account_id).await?.iter().map(admin::bot_json).collect();
    Ok(Response::ok(json!({ "bots": bots })))
}

async fn list_providers(directory: &Directory) -> Result<Response, Error> {
    Ok(Response::ok(admin::choosable_providers_json(&directory.providers().await?)))
}

async fn test(
    directory: &Directory,
    outbound: &OutboundClient,
    request: &Request,
    bot: &Bot,
) -> Result<Response, Error> {
    let event = bot_sample::parse_sample(&request.json_or_empty()?)?;
    let provider = directory.provider(&bot.provider_id).await?.ok_or(Error::NotFound)?;
    let tested = AuditedChange::named(AuditAction::Tested, AuditedKind::Bot, &*bot.bot_id, &bot.name);
    directory.record(&bot.account_id, tested).await?;
    receiver_test::test_bot(outbound, bot, &provider, event, clock::now()).await
}

async fn rotate_signing_secret(directory: &Directory, request: &Request, bot: &Bot) -> Result<Response, Error> {
    let rotation = secret_rotation::rotated(&bot.signing_secrets, &request.json_or_empty()?, clock::now())?;
    directory.save_bot_signing_secrets(bot, rotation.secrets).await?;
    Ok(Response::ok(rotation.body))
}
