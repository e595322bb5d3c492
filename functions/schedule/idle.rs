//! Every minute: closes the chats that have rested for the account's limit, with all that a close tells the bot and the
//! webhooks. Each open chat is looked at when its limit ends, and at least once an hour: a read and a write. Then, where an
//! account has changed its retention, goes on to give it to chats that ended before.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::error::Error;
use shared::queue::{self, BotQueue, WebhookQueue};
use shared::store::chats::Chats;
use shared::store::deliveries::{Overdue, SHARDS};
use shared::store::directory::Directory;
use shared::{clock, consumer, retention};

/// Chats of one shard in one run.
const PAGE: i32 = 250;
/// When a run begins nothing new with ended chats.
const LASTS: Duration = Duration::from_secs(30);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run_scheduled(handle).await
}

type Uses = (Directory, Chats, BotQueue, WebhookQueue);

async fn handle(uses: Uses) -> Result<Value, Error> {
    let (directory, chats, ..) = &uses;
    let (end, mut is_behind) = (Instant::now() + LASTS, false);
    let (mut closed, mut failed) = (0_u32, 0_u32);
    // Another one is first each minute, so that a long one does not keep the others waiting for ever.
    let first = clock::now().seconds() / 60;
    for shard in (first..first + SHARDS).map(|shard| shard % SHARDS) {
        let page = chats.to_look_at(shard, clock::now(), PAGE).await?;
        is_behind |= page.len() == PAGE as usize;
        for found in page {
            match look(&uses, &found).await {
                Ok(has_closed) => closed += u32::from(has_closed),
                // One that cannot be closed must not keep the others waiting.
                Err(error) => {
                    failed += 1;
                    tracing::error!(context = ?error.context(), "not closed: {error}");
                }
            }
        }
    }
    // Ended chats come after the open ones, which may end by the old retention until they have been looked at.
    if !is_behind {
        failed += retention::go_on(directory, chats, end).await?;
    }
    tracing::info!(closed, failed, "looked for idle chats");
    if failed > 0 { Err(Error::internal(("not closed", failed))) } else { Ok(json!({ "closed": closed })) }
}

async fn look((directory, chats, to_bot, to_webhook): &Uses, found: &Overdue) -> Result<bool, Error> {
    let Some(chat) = chats.resting(found).await? else { return Ok(false) };
    let (settings, now) = (directory.cached_settings(&chat.account_id).await?, clock::now());
    if !settings.is_idle(chat.updated_at, now) {
        chats.look_again(found, &chat, &settings, now).await?;
        return Ok(false);
    }
    let Some(closed) = chats.close_idle(&chat, &settings, now).await? else { return Ok(false) };
    queue::enqueue_notifications(&closed.told, to_bot, to_webhook).await;
    Ok(true)
}
