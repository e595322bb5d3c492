//! GET /agent/chats/{chat_id}/messages?after=seq&limit=n: the timeline, oldest first, with the state of every
//! delivery.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::agent;
use shared::{auth, clock};

/// Messages in an answer: the most, and how many when nothing is said.
const MOST: u64 = 500;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((chats, connections): (Chats, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let chat_id = request.number("chat_id")?;
    let after = request.query_number("after")?.unwrap_or(0);
    let limit = request.query_number("limit")?.unwrap_or(MOST).clamp(1, MOST);
    let limit = i32::try_from(limit).map_err(Error::internal)?;
    let entries = chats.timeline(&caller.account_id, chat_id, after, limit).await?;
    if entries.is_empty() {
        // An empty page of a chat that exists is not the same as no chat.
        chats.chat(&caller.account_id, chat_id).await?.ok_or(Error::NotFound)?;
    }
    let now = clock::now();
    let messages: Vec<Value> = entries.iter().map(|entry| agent::entry(entry, now)).collect();
    Ok(Response::ok(json!({ "messages": messages })))
}
