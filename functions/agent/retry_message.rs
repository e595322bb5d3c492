//! POST /agent/chats/{chat_id}/messages/{seq}/retry: starts a new round of up to three attempts for a failed message.
//!
//! Costs these table and queue requests:
//! - session: one read, plus two writes at most once a minute (the session and the agent's presence)
//! - chat: one read. If the agent is not an admin and does not have the chat, also one read of its channel and one
//!   query of the roster (the account's agents and departments). Both are cached for ten seconds; the roster is queried
//!   again if the cached copy may be stale
//! - delivery: one write. The table rejects the write if there is no such entry (404), or if the entry is not a message
//!   to the visitor whose delivery has failed (409)
//! - queue: one request

use std::process::ExitCode;

use serde_json::json;
use shared::domain::delivery_search_and_replay::ReplayScope;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::ChannelQueue;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, ChannelQueue);

async fn handle((directory, chats, connections, queue): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (chat_id, seq) = (request.path_number("chat_id")?, request.path_number("seq")?);
    let now = clock::now();
    ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
    let entry = chats.replay_delivery(&caller.account_id, chat_id, seq, ReplayScope::MessageToVisitor, now).await?;
    queue.0.enqueue_entry_or_leave_to_sweep(&entry).await;
    Ok(Response::accepted(json!({ "seq": seq, "id": entry.id })))
}
