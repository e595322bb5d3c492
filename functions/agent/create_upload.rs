//! POST /agent/chats/{chat_id}/uploads: returns the form with which the agent's browser sends a file to the bucket.

use std::process::ExitCode;

use shared::domain::files::upload::Uploader;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::service::uploads::create_upload;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, FileBucket);

async fn handle((directory, chats, connections, bucket): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (chat_id, now) = (request.path_number("chat_id")?, clock::now());
    let body = request.body_as()?;
    connections.count_agent_message(&caller, chat_id, now)?;
    ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
    let uploader = Uploader::agent(&caller.account_id, caller.agent.agent_id, chat_id);
    let settings = &directory.cached_settings(&caller.account_id).await?.files;
    Ok(Response::created(create_upload(&bucket, &uploader, (body, settings), now)?))
}
