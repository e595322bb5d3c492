//! POST /admin/bots/{bot_id}/test: sends a sample event to the bot, and returns the request and the response.
//! `clause` in the body says which clause of the contract is tested.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::delivery::outbound_client::OutboundClient;
use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth, receiver_test};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::bots::bot_sample::BotTest;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, OutboundClient);

async fn handle((directory, connections, outbound): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let now = clock::now();
    let bot = directory.bot_of_account(&caller.account_id, &request.path_segment("bot_id")).await?;
    connections.count_receiver_test(&caller.account_id, now)?;
    let test = request.optional_body_as::<BotTest>()?;
    let provider = directory.provider(&bot.provider_id).await?.ok_or(Error::NotFound)?;
    let tested = AuditedChange::named(AuditAction::Tested, AuditedKind::Bot, &*bot.bot_id, &bot.name);
    audit::by_agent(&directory, &caller, &request).record(&bot.account_id, tested).await?;
    Ok(Response::ok(receiver_test::test_bot(&outbound, &bot, &provider, &test, now).await?))
}
