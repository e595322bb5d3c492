//! GET /admin/deliveries?state=&target=&chat_id=&channel_id=&from=&to=&limit=&cursor=: lists deliveries from the
//! delivery log. GET /admin/deliveries/counts?state=&from=&to=: counts failed and pending deliveries. GET
//! /admin/deliveries/{chat_id}/{seq}: shows a delivery with its request. POST /admin/deliveries/replay: replays one
//! delivery, or the failed deliveries in a chat or a time range, page by page. Failed calls, and failed events to which
//! a bot must react, are not replayed.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::{BotQueue, ChannelQueue, FirstAttemptQueues, WebhookQueue};
use shared::service::delivery_log::DeliveryLogService;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::delivery_log;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, ChannelQueue, BotQueue, WebhookQueue);

async fn handle(
    (directory, chats, connections, channel_queue, bot_queue, webhook_queue): Dependencies,
    request: Request,
) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let queues = FirstAttemptQueues { channel: &channel_queue, bot: &bot_queue, webhook: &webhook_queue, call: None };
    let log = DeliveryLogService {
        account_id: &caller.account_id,
        directory: &directory,
        chats: &chats,
        connections: &connections,
        queues,
        now: clock::now(),
    };
    match request.last_route_segment().as_str() {
        "replay" => log.replay(&request.json()?).await,
        "counts" => log.count(&delivery_log::parse_counts_request(&|name| request.query(name))?).await,
        "{seq}" => log.show(request.path_number("chat_id")?, request.path_number("seq")?).await,
        _ => log.list(delivery_log::parse_list_request(&|name| request.query(name))?).await,
    }
}
