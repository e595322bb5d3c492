//! POST /agent/chats/{chat_id}/messages: the agent writes to the visitor. Answers 201 when the message and the
//! duty to deliver it are stored, and queues it: one read, two writes, one queue request; a refusal
//! reads the chat once more.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::ChannelQueue;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::chats::agent_messages::Outgoing;
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
    let (account_id, chat_id) = (&caller.account_id, request.number("chat_id")?);
    let body = request.json()?;
    let content = agent::message(&body)?;
    let key = request.idempotency_key(|| format!("{account_id}#{chat_id}#{}", caller.agent.agent_id), &body)?;
    let key = key.as_ref();
    let now = clock::now();
    let outgoing = Outgoing { account_id, chat_id, agent: &caller.agent, content, key, now };
    let sent = match chats.agent_message(&outgoing).await {
        Err(Error::Conflict(why)) => {
            // Who has the chat is for those who see it.
            ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
            return Err(Error::Conflict(why));
        }
        sent => sent?,
    };
    // Also for a repeated request: the first may have died before this. The queue and the consumer both know
    // a task they have seen.
    queue.0.enqueue_stored(&Task::new_entry(account_id, sent.chat_id, sent.seq)).await;
    Ok(Response::created(json!({ "seq": sent.seq, "id": sent.id })).about(&sent.id))
}
