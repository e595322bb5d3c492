//! POST /agent/chats/{chat_id}/messages/{seq}/retry: starts a new round of up to three attempts for a failed message.

use std::process::ExitCode;

use shared::domain::deliveries::delivery_search_and_replay::ReplayScope;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::MessageStored;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (chat_id, seq) = (request.path_number("chat_id")?, request.path_number("seq")?);
    let now = clock::now();
    ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
    let entry = chats.replay_delivery(&caller.account_id, chat_id, seq, ReplayScope::MessageToVisitor, now).await?;
    let response = Response::accepted(MessageStored::new(seq, &entry.id));
    outbox.enqueue(&[entry]).await;
    Ok(response)
}
