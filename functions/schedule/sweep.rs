//! Every minute: finds deliveries that should long be over, because a process died between storing and
//! queueing or in the middle of a try, and begins them anew.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use shared::domain::delivery::Target;
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::queue::{BotQueue, ChannelQueue, WebhookQueue};
use shared::store::chats::Chats;
use shared::store::deliveries::SHARDS;
use shared::{clock, consumer};

/// How long a delivery may be over its verdict before it counts as lost: a queue may be slow.
const GRACE: Duration = Duration::from_secs(15);
/// Deliveries of one shard in one run.
const PAGE: i32 = 500;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run_scheduled(handle).await
}

type Uses = (Chats, ChannelQueue, BotQueue, WebhookQueue);

async fn handle((chats, to_channel, to_bot, to_webhook): Uses) -> Result<Value, Error> {
    let now = clock::now();
    let before = Timestamp(now.0.saturating_sub(u64::try_from(GRACE.as_millis()).map_err(Error::internal)?));
    let mut revived = 0_u32;
    for shard in 0..SHARDS {
        for overdue in chats.overdue(shard, before, PAGE).await? {
            let Some(entry) = chats.revive(&overdue, clock::now()).await? else {
                continue;
            };
            let Some(delivery) = &entry.delivery else { continue };
            match delivery.target {
                Target::Channel => to_channel.0.send_entry(Some(&entry)).await?,
                Target::Bot => to_bot.0.send_entry(Some(&entry)).await?,
                Target::Webhook => to_webhook.0.send_entry(Some(&entry)).await?,
            }
            revived += 1;
        }
    }
    tracing::info!(revived, "swept");
    Ok(json!({ "revived": revived }))
}
