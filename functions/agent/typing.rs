//! POST /agent/chats/{chat_id}/typing: the agent who has the chat starts (typein) or stops (typeout) typing.
//! Passed on once, stored nowhere.

use std::process::ExitCode;

use serde_json::json;
use shared::delivery::task::Task;
use shared::domain::ownership::Event;
use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::queue::ChannelQueue;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::agent;
use shared::{auth, clock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Uses = (Chats, Connections, ChannelQueue);

async fn handle((chats, connections, queue): Uses, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let typing = agent::typing(&request.json_or_empty()?)?;
    let chat_id = request.number("chat_id")?;
    let chat = chats.chat(&caller.account_id, chat_id).await?.ok_or(Error::NotFound)?;
    chat.state.after(Event::AgentWrites(&caller.agent))?;
    queue.0.send(&Task::typing(&caller.account_id, chat_id, typing, clock::now())).await?;
    Ok(Response::ok(json!({ "chat_id": chat_id, "type": typing.name() })))
}
