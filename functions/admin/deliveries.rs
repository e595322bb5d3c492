//! GET /admin/deliveries?state=&target=&chat_id=&channel_id=&from=&to=&limit=&cursor=: lists deliveries from the
//! delivery log. POST /admin/deliveries/replay: replays one delivery, or the failed deliveries of a chat or of a time
//! range.
//!
//! Costs these table and queue requests:
//! - session: one read, and at most once a minute two writes (the session and the agent's presence)
//! - failed deliveries of the account: one query of the index and one batch of reads for each 50 failures
//! - deliveries of one chat: one read of the chat, and one query for each 100 entries
//! - deliveries of the account in another state: four queries of the index and one batch of reads for each 100 chats,
//!   and one query for each 100 entries of a chat that may contain a match
//! - replay of several deliveries: first, the same requests as for listing these deliveries
//! - each replayed delivery, at most 100 in a request: one write and one queue request
//!
//! An agent without the admin role gets 403 after the read of the session.

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
