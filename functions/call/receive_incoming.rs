//! POST /calls/{account_id}: receives a telephony provider's report that a visitor is calling (docs/telephony.md). The
//! provider signs the request. The response tells the provider which agent's phone to connect. It contains no phone if
//! no agent is available, if the visitor is blacklisted, or if there is no channel for the caller. An unknown caller
//! becomes a new visitor of the channel in the telephony settings. A repeated report of the same call stores nothing
//! and gets the same response.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::calls::CallService;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, outbox, public_url) = dependencies;
    let service = CallService { directory: &directory, chats: &chats, connections: &connections, now: clock::now() };
    let account_id = request.path_segment("account_id");
    service.receive_incoming((&request, &public_url), &account_id, &outbox).await
}
