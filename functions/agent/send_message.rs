//! POST /agent/chats/{chat_id}/messages: sends an agent's message to the visitor. A 201 response means that the message
//! is stored, together with its pending delivery if the channel has an integrator.
//!
//! A file that the agent has uploaded is checked and taken over before; see `shared::service::uploads`.
//!
//! If the agent does not have the chat, the condition of the chat's write fails, and the message is rejected with 409,
//! or with 403 if the agent may not see the chat.

use std::process::ExitCode;

use shared::chats::agent::send_agent_message::{AgentMessage, send_agent_message};
use shared::domain::files::upload::Uploader;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::service::file_links::FileLinks;
use shared::service::uploads::{FileReceiver, MessageFate};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{MessageStored, parse_agent_message};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox, FileBucket, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, outbox, bucket, url) = dependencies;
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, chat_id) = (&caller.account_id, request.path_number("chat_id")?);
    let body = request.json()?;
    let (mut content, draft) = parse_agent_message(&body)?;
    let key = request.idempotency_key(|| format!("{account_id}#{chat_id}#{}", caller.agent.agent_id), &body)?;
    let now = clock::now();
    connections.count_agent_message(&caller, chat_id, now)?;
    let links = FileLinks { directory: &directory, base_url: url.of_request(&request), now };
    let uploader = Uploader::agent(account_id, caller.agent.agent_id, chat_id);
    let files = FileReceiver { bucket: &bucket, links, path: "" }.take(&uploader, &mut content).await?;
    let webhooks = &directory.cached_settings(account_id).await?.webhooks;
    let outgoing =
        AgentMessage { account_id, chat_id, agent: &caller.agent, content, draft, webhooks, key: key.as_ref(), now };
    let sent = send_agent_message(&chats, &outgoing).await;
    files.finish(&bucket, MessageFate::of(&sent)).await;
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let sent = explained(&access, chat_id, sent).await?;
    let receipt = &sent.receipt;
    outbox.enqueue_message(account_id, receipt).await;
    outbox.enqueue(&sent.notifications).await;
    Ok(Response::created(MessageStored::new(receipt.seq, &receipt.id)).with_logged_message_id(&receipt.id))
}

/// The reason of a conflict reveals whether another agent has the chat, so only agents who may see the chat get it.
async fn explained<T>(access: &ChatAccess<'_>, chat_id: u64, result: Result<T, Error>) -> Result<T, Error> {
    if matches!(result, Err(Error::Conflict(_))) {
        access.chat(chat_id).await?;
    }
    result
}
