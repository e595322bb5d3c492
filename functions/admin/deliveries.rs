//! GET /admin/deliveries?state=&target=&chat_id=&channel_id=&from=&to=&limit=&cursor=: the ledger of deliveries;
//! POST /admin/deliveries/replay: sends one again, or what failed in a chat or in a time. What a page costs stands in
//! `shared/src/store/ledger.rs`; what is sent again costs a write and a queue request each.

use std::process::ExitCode;

use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::ledger::Desk;
use shared::queue::{BotQueue, ChannelQueue, WebhookQueue};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::wire::ledger;
use shared::{auth, clock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Uses = (Chats, Connections, ChannelQueue, BotQueue, WebhookQueue);

async fn handle(
    (chats, connections, to_channel, to_bot, to_webhook): Uses,
    request: Request,
) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let queues = (&to_channel, &to_bot, &to_webhook);
    let desk = Desk { account_id: &caller.account_id, chats: &chats, queues, now: clock::now() };
    match request.route_end().as_str() {
        "replay" => desk.replay(&request.json()?).await,
        _ => desk.list(ledger::question(&|name| request.query(name))?).await,
    }
}
