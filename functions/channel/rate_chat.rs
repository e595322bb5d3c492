//! POST /channel/{secret}/{channel_id}/rating: stores or removes a visitor's rating of a chat, which the integrator of
//! an API channel reports. chat_finished contains the rating that the chat then has; a rating that changes later is
//! reported with chat_updated.

use std::process::ExitCode;

use shared::chats::visitor::rate_chat::rate_chat;
use shared::domain::channels::channel::Channel;
use shared::domain::chats::chat::Chat;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::wire::channels::visitor_report::RatingReport;
use shared::wire::fields::described::{ResultOk, Success};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Outbox);

async fn handle((directory, chats, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let now = clock::now();
    let (channel, settings) = auth::integrator(&directory, &request, now).await?;
    let report: RatingReport = request.body_as()?;
    let chat = rated_chat(&chats, &channel, &report).await?;
    let chat = chat.filter(|chat| !chat.is_expired(now)).ok_or(Error::NotFound)?;
    let events = rate_chat(&chats, chat, report.rating(), &settings.webhooks, now).await?;
    outbox.enqueue(&events).await;
    Ok(Response::ok(Success { result: ResultOk::Ok }))
}

/// Returns the chat that the report names, or the visitor's open or last one. `None` if the visitor has no such chat.
async fn rated_chat(chats: &Chats, channel: &Channel, report: &RatingReport) -> Result<Option<Chat>, Error> {
    let chat_id = match report.chat_id() {
        Some(chat_id) => Some(chat_id),
        None => {
            let visitor = chats.visitor(&channel.channel_id, report.external_id()).await?;
            visitor.and_then(|visitor| visitor.open_chat.or(visitor.last_chat))
        }
    };
    let Some(chat_id) = chat_id else { return Ok(None) };
    let chat = chats.chat(&channel.account_id, chat_id).await?;
    let is_of_visitor = |chat: &Chat| chat.channel_id == channel.channel_id && chat.external_id == report.external_id();
    Ok(chat.filter(is_of_visitor))
}
