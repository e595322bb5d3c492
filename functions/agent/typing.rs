//! POST /agent/chats/{chat_id}/typing: the agent who has the chat starts (typein) or stops (typeout) typing.
//! Passed on once, stored nowhere.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::chat_state::Event;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::ChannelQueue;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent;
use shared::wire::task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, ChannelQueue);

async fn handle((directory, chats, connections, queue): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let typing = agent::typing(&request.json_or_empty()?)?;
    let (chat_id, now) = (request.number("chat_id")?, clock::now());
    let chat = ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
    chat.state.after(Event::AgentWrites(&caller.agent))?;
    queue.0.send(&Task::typing(&caller.account_id, chat_id, typing, now)).await?;
    Ok(Response::ok(json!({ "chat_id": chat_id, "type": typing.name() })))
}
