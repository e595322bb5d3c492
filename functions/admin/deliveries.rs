//! GET /admin/deliveries?state=&target=&chat_id=&channel_id=&from=&to=&limit=&cursor=: the ledger of deliveries;
//! POST /admin/deliveries/replay: sends one again, or what failed in a chat or in a time. What a page costs stands in
//! `shared/src/store/chats/delivery_log.rs`; what is sent again costs a write and a queue request each.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::{BotQueue, ChannelQueue, WebhookQueue};
use shared::service::auth;
use shared::service::delivery_log::Desk;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::delivery_log;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Chats, Connections, ChannelQueue, BotQueue, WebhookQueue);

async fn handle(
    (chats, connections, to_channel, to_bot, to_webhook): Dependencies,
    request: Request,
) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let queues = (&to_channel, &to_bot, &to_webhook);
    let desk = Desk { account_id: &caller.account_id, chats: &chats, queues, now: clock::now() };
    match request.route_end().as_str() {
        "replay" => desk.replay(&request.json()?).await,
        _ => desk.list(delivery_log::question(&|name| request.query(name))?).await,
    }
}
