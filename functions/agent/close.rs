//! POST /agent/chats/{chat_id}/close: ends the agent's chat, or one that no agent has. A bot that stood in front
//! of it is told CHAT_CLOSED.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::queue::BotQueue;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::{auth, clock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Uses = (Chats, Connections, BotQueue);

async fn handle((chats, connections, to_bot): Uses, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let chat_id = request.number("chat_id")?;
    let closed = chats.close(&caller.account_id, chat_id, &caller.agent, clock::now()).await?;
    to_bot.0.send_entry(closed.notice.as_ref()).await?;
    Ok(Response::ok(json!({ "chat_id": chat_id, "state": "closed" })))
}
