//! GET /admin/deliveries/{chat_id}/{seq}: shows a delivery with its request. The request is not stored. The code that
//! sends requests builds it again from the current data, with the time of the newest attempt or, if there was none, the
//! current time.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::delivery_log::DeliveryRequests;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::delivery_log::ShownDelivery;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let (account_id, now) = (auth::admin(&connections, &request).await?.account_id, clock::now());
    let (chat_id, seq) = (request.path_number("chat_id")?, request.path_number("seq")?);
    let (entry, chat) = chats.entry_and_chat(&account_id, chat_id, seq).await?.ok_or(Error::NotFound)?;
    let delivery = entry.delivery.as_ref().filter(|_| !entry.is_expired(now)).ok_or(Error::NotFound)?;
    let sent_at = delivery.attempts.last().map_or(now, |attempt| attempt.at);
    let requests = DeliveryRequests { directory: &directory, chats: &chats, connections: &connections };
    let request = requests.shown(&entry, &chat, delivery.target, sent_at).await?;
    let shown = ShownDelivery::new(&chat, &entry, request, now);
    Ok(Response::ok(shown.ok_or(Error::NotFound)?))
}
