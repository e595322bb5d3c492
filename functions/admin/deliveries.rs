//! GET /admin/deliveries?state=&target=&chat_id=&channel_id=&from=&to=&limit=&cursor=: lists deliveries from the
//! delivery log. POST /admin/deliveries/replay: replays one delivery, or all failed deliveries in a chat or a time
//! range.
//!
//! Costs these table and queue requests:
//! - session: one read, plus two writes at most once a minute (the session and the agent's presence)
//! - failed deliveries of the account: one query of the index and one batch of reads per 50 failures
//! - deliveries of one chat: one read of the chat, and one query per 100 entries
//! - deliveries of the account in another state: four queries of the index and one batch of reads per 100 chats. Each
//!   chat that may contain a match also costs one query per 100 entries
//! - replay of several deliveries: first, the same requests as for listing these deliveries
//! - each replayed delivery, at most 100 in a request: one write and one queue request
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::{BotQueue, ChannelQueue, WebhookQueue};
use shared::service::auth;
use shared::service::delivery_log::DeliveryLogService;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::delivery_log;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Chats, Connections, ChannelQueue, BotQueue, WebhookQueue);

async fn handle(
    (chats, connections, channel_queue, bot_queue, webhook_queue): Dependencies,
    request: Request,
) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let queues = (&channel_queue, &bot_queue, &webhook_queue);
    let log = DeliveryLogService { account_id: &caller.account_id, chats: &chats, queues, now: clock::now() };
    match request.last_route_segment().as_str() {
        "replay" => log.replay(&request.json()?).await,
        _ => log.list(delivery_log::parse_list_request(&|name| request.query(name))?).await,
    }
}
