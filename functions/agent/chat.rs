//! GET /agent/chats/{chat_id}: the header, the visitor and the panel of a chat.

use std::process::ExitCode;

use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::agent;
use shared::{auth, clock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((chats, connections): (Chats, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let chat = chats.chat(&caller.account_id, request.number("chat_id")?).await?.ok_or(Error::NotFound)?;
    let visitor = chats.visitor(&chat.channel_id, &chat.external_id).await?.ok_or(Error::NotFound)?;
    let panel = chats.panel(&caller.account_id, chat.chat_id).await?;
    Ok(Response::ok(agent::chat_detail(&chat, &visitor, &panel, clock::now())))
}
