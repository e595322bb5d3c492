//! POST /calls/{account_id}: receives a telephony provider's report that a visitor is calling (docs/telephony.md). The
//! provider signs the request. The response tells the provider which agent's phone to connect. It contains no phone if
//! no agent is available, if the visitor is blacklisted, or if there is no channel for the caller. An unknown caller
//! becomes a new visitor of the channel in the telephony settings. A repeated report of the same call stores nothing
//! and gets the same response.
//!
//! Costs these table and queue requests:
//! - telephony settings: one read, cached for ten seconds. A request with a wrong signature is rejected after this read
//! - receipt (the stored result of an earlier report): one read. A repeated report also costs one read of the call's
//!   entry, and nothing more
//! - visitor: one query for each of the two formats of the number, and one read for each visitor with this number
//! - channel and settings: one read each, cached for ten seconds
//! - agent: one query of the agents' presence and one read for each of at most 20 agents who are online. If the visitor
//!   has an open chat, also one read of it. If the channel names agents or departments, also one query of the roster
//!   (the account's agents and departments), cached for ten seconds
//! - call in progress: one read, and a second one if the visitor has had a call in the last day
//! - open chat: one read each of the receipt, the visitor and the chat, one write of the visitor if its data changes
//!   and no webhook is notified, one write of the chat, and one transaction that stores the call, an event for each
//!   webhook, the receipt and the reference to the visitor's last call
//! - new chat: one read each of the receipt, the visitor and, if there is one, the visitor's last chat, two counter
//!   writes and one transaction
//! - queues: one request for each event of each webhook. If an agent is available, also one for the task with which
//!   `deliver-call` starts to check the call's time limit

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::runtime::queue::{CallQueue, WebhookQueue};
use shared::service::calls::CallService;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, CallQueue, WebhookQueue, PublicBaseUrl);

async fn handle(
    (directory, chats, connections, call_queue, webhook_queue, public_url): Dependencies,
    request: Request,
) -> Result<Response, Error> {
    let service = CallService { directory: &directory, chats: &chats, connections: &connections, now: clock::now() };
    let account_id = request.path_segment("account_id");
    service.receive_incoming((&request, &public_url), &account_id, (&call_queue, &webhook_queue)).await
}
