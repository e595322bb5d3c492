//! POST /widget/{widget_id}/rating: stores or removes the visitor's rating of a chat. chat_finished contains the rating
//! that the chat then has; a rating that changes later is reported with chat_updated.

use std::process::ExitCode;

use shared::chats::visitor::rate_chat::rate_chat;
use shared::domain::chats::chat::Chat;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::widget::WidgetRequest;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::fields::described::{ResultOk, Success};
use shared::wire::widget::RatingRequest;

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let requested: RatingRequest = accepted.body_as()?;
    let visitor = accepted.visitor(&chats, &requested.token).await?;
    let chat = chats.chat(&visitor.account_id, requested.chat_id.0).await?;
    let is_own = |chat: &Chat| chat.visitor_number == visitor.number && !chat.is_expired(accepted.now);
    let chat = chat.filter(is_own).ok_or(Error::NotFound)?;
    let settings = directory.cached_settings(&chat.account_id).await?;
    let events = rate_chat(&chats, chat, requested.rating(), &settings.webhooks, accepted.now).await?;
    outbox.enqueue(&events).await;
    Ok(Response::ok(Success { result: ResultOk::Ok }))
}
