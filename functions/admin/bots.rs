//! /admin/bots: POST connects a bot and assigns it to channels, GET lists the bots.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::bots::bot::{Bot, DEFAULT_BOT_NAME};
use shared::domain::channels::signing_secret::SigningSecrets;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::{clock, random_ids_and_secrets};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::{BotOrigin, BotToken, Bots, CreatedBot, NewBot};
use shared::wire::fields::values::Text;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, POST")?;
    let caller = auth::admin(&connections, &request).await?;
    match request.method.as_str() {
        "POST" => create(&audit::by_agent(&directory, &caller, &request), caller.account_id, &request).await,
        "GET" => list(&directory, &caller.account_id).await,
        _ => Err(request.unexpected_method()),
    }
}

async fn create(directory: &Directory, account_id: String, request: &Request) -> Result<Response, Error> {
    let new: NewBot = request.body_as()?;
    let (channel_ids, settings) = (new.channel_ids(), new.settings()?);
    let BotOrigin { provider_id: Text(provider_id), token, name } = new.origin;
    if directory.provider(&provider_id).await?.is_none() {
        return Err(Error::field("provider_id", "is not a provider"));
    }
    let bot_id = random_ids_and_secrets::random_identifier()?;
    let signing_secrets = SigningSecrets::new(random_ids_and_secrets::random_signing_secret()?);
    let created_at = clock::now();
    let is_token_created = token.is_none();
    let name = name.0.unwrap_or_else(|| DEFAULT_BOT_NAME.to_owned());
    let token = token.map_or_else(random_ids_and_secrets::random_token, |BotToken(token)| Ok(token))?;
    let bot = Bot { bot_id, account_id, provider_id, token, name, channel_ids, settings, signing_secrets, created_at };
    directory.create_bot(&bot).await?;
    Ok(Response::created(CreatedBot::new(&bot, is_token_created)))
}

async fn list(directory: &Directory, account_id: &str) -> Result<Response, Error> {
    Ok(Response::ok(Bots::new(&directory.account_bots(account_id).await?)))
}
