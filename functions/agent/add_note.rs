//! POST /agent/chats/{chat_id}/notes: adds a private note to the timeline of a chat, even if the chat is closed. Only
//! agents see notes: a note is not delivered, is not part of any event, and does not change the last message of the
//! chat. The agents whom it mentions must see the chat, and are told of it.

use std::process::ExitCode;

use shared::chats::agent::add_note::{NewNote, add_note};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{self, NoteStored};
use shared::wire::fields::reader::read;
use shared::wire::fields::values::SequentialNumber;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, chat_id) = (&caller.account_id, request.path_number("chat_id")?);
    let body = request.json()?;
    let (text, mentions) = read::<agent::NewNote>(&body)?.into_parts();
    // The scope differs from that of messages, so that a key that was used for a note is never mistaken for the key of
    // a message.
    let key = request.idempotency_key(|| format!("{account_id}#{chat_id}#{}#note", caller.agent.agent_id), &body)?;
    let (key, now) = (key.as_ref(), clock::now());
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat = access.chat(chat_id).await?;
    if !mentions.is_empty() {
        access.require_seen_by(&mentions, &chat).await?;
    }
    let note = NewNote { agent: &caller.agent, text: &text, mentions: &mentions, key, now };
    let stored = add_note(&chats, chat, &note).await?;
    Ok(Response::created(NoteStored { seq: SequentialNumber(stored.seq), id: stored.id.clone() })
        .with_logged_message_id(&stored.id))
}
