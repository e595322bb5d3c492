//! Every minute: finds deliveries that should long be over, because a process died between storing and
//! queueing or in the middle of a try, and begins them anew.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::queue::{self, BotQueue, ChannelQueue, WebhookQueue};
use shared::store::chats::Chats;
use shared::store::deliveries::{Overdue, Revived, SHARDS};
use shared::{clock, consumer, metrics};

/// How long a delivery may be over its verdict before it counts as lost: a queue may be slow.
const GRACE: Duration = Duration::from_secs(15);
/// Deliveries of one shard in one run.
const PAGE: i32 = 500;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run_scheduled(handle).await
}

type Uses = (Chats, ChannelQueue, BotQueue, WebhookQueue);

async fn handle(uses: Uses) -> Result<Value, Error> {
    let (chats, ..) = &uses;
    let now = clock::now();
    let before = Timestamp(now.0.saturating_sub(u64::try_from(GRACE.as_millis()).map_err(Error::internal)?));
    let (mut revived, mut failed) = (0_u32, 0_u32);
    for shard in 0..SHARDS {
        for overdue in chats.overdue(shard, before, PAGE).await? {
            match take_up(&uses, &overdue).await {
                Ok(taken) => revived += u32::from(taken),
                // One that cannot be taken up must not keep the others waiting.
                Err(error) => {
                    failed += 1;
                    tracing::error!(context = ?error.context(), "not swept: {error}");
                }
            }
        }
    }
    tracing::info!(revived, failed, "swept");
    if failed > 0 { Err(Error::internal(("not swept", failed))) } else { Ok(json!({ "revived": revived })) }
}

async fn take_up((chats, to_channel, to_bot, to_webhook): &Uses, overdue: &Overdue) -> Result<bool, Error> {
    match chats.revive(overdue, clock::now()).await? {
        Revived::Not => Ok(false),
        Revived::Failed(entry, is_handed_over) => {
            metrics::given_up(&entry, is_handed_over);
            Ok(false)
        }
        Revived::Begun(entry) => {
            queue::send_round(&entry, (to_channel, to_bot, to_webhook)).await?;
            Ok(true)
        }
    }
}
