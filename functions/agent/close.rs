//! POST /agent/chats/{chat_id}/close: ends the agent's chat, or one that no agent has.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::{auth, clock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((chats, connections): (Chats, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let chat_id = request.number("chat_id")?;
    chats.close(&caller.account_id, chat_id, caller.agent.agent_id, clock::now()).await?;
    Ok(Response::ok(json!({ "chat_id": chat_id, "state": "closed" })))
}
