//! POST /agent/chats/{chat_id}/messages: sends an agent's message to the visitor. The response 201 means that the
//! message is stored together with its pending delivery.
//!
//! Table and queue requests:
//! - session: one read; at most once a minute also two writes, to the session and the agent's presence
//! - idempotency key, if the request has one: one read
//! - message: one write of the chat, then one write of the entry; with an idempotency key a transaction of both items
//! - queue: one request, also for a repeated request
//!
//! A message to a chat that the agent does not have is refused with 409 or 403 after the rejected write of the chat,
//! and these reads decide which:
//! - chat: one read; if the agent is no admin and does not have the chat, also its channel (one read) and the roster
//!   (one query), both cached for ten seconds; the roster is queried again if the cached one may be outdated

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::ChannelQueue;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::chats::agent_messages::AgentMessage;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent;
use shared::wire::queue_task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, ChannelQueue);

async fn handle((directory, chats, connections, queue): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, chat_id) = (&caller.account_id, request.path_number("chat_id")?);
    let body = request.json()?;
    let content = agent::parse_agent_message(&body)?;
    let key = request.idempotency_key(|| format!("{account_id}#{chat_id}#{}", caller.agent.agent_id), &body)?;
    let key = key.as_ref();
    let now = clock::now();
    let outgoing = AgentMessage { account_id, chat_id, agent: &caller.agent, content, key, now };
    let sent = match chats.store_agent_message(&outgoing).await {
        Err(Error::Conflict(reason)) => {
            // The reason reveals who has the chat, so it is only for agents who may see the chat.
            ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
            return Err(Error::Conflict(reason));
        }
        sent => sent?,
    };
    // Also for a repeated request: the first one may have failed before this. The queue and the consumer ignore a
    // duplicate.
    queue.0.enqueue_or_leave_to_sweep(&Task::new_entry(account_id, sent.chat_id, sent.seq)).await;
    Ok(Response::created(json!({ "seq": sent.seq, "id": sent.id })).with_message_id(&sent.id))
}
