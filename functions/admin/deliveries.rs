//! GET /admin/deliveries?state=&target=&chat_id=&channel_id=&from=&to=&limit=&cursor=: lists deliveries from the
//! delivery log. GET /admin/deliveries/counts?state=&from=&to=: counts failed and pending deliveries. GET
//! /admin/deliveries/{chat_id}/{seq}: shows a delivery with its request. POST /admin/deliveries/replay: replays one
//! delivery, or the failed deliveries in a chat or a time range, page by page. Failed calls, and failed events to which
//! a bot must react, are not replayed.
//!
//! Costs these table and queue requests:
//! - session: one read, plus two writes at most once a minute (the session and the agent's presence)
//! - the account's failed deliveries: one query of the index `due` and one batch of reads per 50 failures
//! - one chat's deliveries: one read of the chat, and one query per 100 entries
//! - the account's deliveries in another state: four queries of the index `listing` (one for each chat state) and one
//!   batch of reads per 100 chats. Each chat that may contain a match also costs one query per 100 entries
//! - counts: one query of the index `due` for the failed deliveries, and one for each of its 32 partitions of pending
//!   deliveries; `state` can select one of the two
//! - a single delivery: one batch that reads the entry and the chat. Its request is not stored. Building the request
//!   again costs the reads in the next three lines; channel, bot, provider, settings and roster are cached for ten
//!   seconds
//! - request to an integrator: one read of the channel
//! - request to a bot: one read each of the bot and the provider. CLIENT_MESSAGE also costs one read each of the
//!   visitor and the channel, one query of the agents' presence and, if the channel names agents or departments, one
//!   query of the roster (the account's agents and departments)
//! - request to a webhook: one read each of the settings and the visitor, and one batch of reads of agents.
//!   offline_message also costs one query of entries. chat_finished also costs one query for each megabyte or 1,000
//!   entries of the chat and, if the chat has had an invitation, one read of the panel
//! - replay: one write of an entry in the audit log. Equal requests have one entry a minute
//! - replay of several deliveries: the same requests as listing the failed deliveries of the account or of the chat
//! - each replayed delivery, at most 100 in a request: one write and one queue request
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
