//! /agent/chats/{chat_id}/messages/{seq}: PATCH replaces the text of a message that the agent has sent, DELETE deletes
//! a message that an agent has sent. Only in chats of a widget.
//!
//! If a concurrent request changes the chat, the reads and the write are repeated. The files of a deleted message are
//! deleted after it; if this fails, the response is an error, and a repeated request deletes them.

use std::process::ExitCode;

use shared::chats::agent::change_sent_message::change_sent_message;
use shared::domain::accounts::agent::Role;
use shared::domain::chats::message_content::Content;
use shared::domain::chats::sent_message_change::{ChangingAgent, SentMessageChange};
use shared::domain::chats::timeline_entry;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{EditedMessage, TimelineEntry};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, FileBucket);

async fn handle((directory, chats, connections, bucket): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, PATCH")?;
    let caller = auth::agent(&connections, &request).await?;
    let (chat_id, seq) = (request.path_number("chat_id")?, request.path_number("seq")?);
    let change = match request.method.as_str() {
        "PATCH" => SentMessageChange::Edit(request.body_as::<EditedMessage>()?.into_text()),
        "DELETE" => SentMessageChange::Delete,
        _ => return Err(request.unexpected_method()),
    };
    let now = clock::now();
    ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
    let by = ChangingAgent { agent_id: caller.agent.agent_id, is_admin: caller.role == Role::Admin };
    let message = change_sent_message(&chats, (&caller.account_id, chat_id, seq), &change, by, now).await?;
    delete_files(&bucket, &message).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    Ok(Response::ok(TimelineEntry::new(message, safe_urls, now)))
}

async fn delete_files(bucket: &FileBucket, message: &timeline_entry::TimelineEntry) -> Result<(), Error> {
    let Content::Deleted(Some(files)) = &message.content else { return Ok(()) };
    for file_id in [Some(&files.file_id), files.thumb_id.as_ref()].into_iter().flatten() {
        bucket.delete_sent(&message.account_id, file_id.clone()).await?;
    }
    Ok(())
}
