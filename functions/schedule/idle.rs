//! Every minute: closes the chats that have rested for the account's limit, with all that a close tells the bot and the
//! webhooks. Each open chat is checked when its limit ends, and at least once an hour: a read and a write. Then, where an
//! account has changed its retention, goes on to give it to chats that ended before. A query for each partition of the
//! backlog, and one for the retentions.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::error::Error;
use shared::runtime::queue::{self, BotQueue, WebhookQueue};
use shared::runtime::{clock, consumer};
use shared::service::backlog::{Handler, Handling, Run};
use shared::service::retention;
use shared::store::chats::Chats;
use shared::store::chats::deliveries::{Backlog, Overdue};
use shared::store::directory::Directory;

/// How long a run checks open chats when there are more than it can do; what is left of the time is for retentions.
const CHECK_BUDGET: Duration = Duration::from_secs(25);
/// When a run begins nothing new: it ends before the function's time-out and before the next minute's run.
const TIME_BUDGET: Duration = Duration::from_secs(40);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run_scheduled(handle).await
}

struct IdleCheck(Directory, Chats, BotQueue, WebhookQueue);

async fn handle(
    (directory, chats, to_bot, to_webhook): (Directory, Chats, BotQueue, WebhookQueue),
) -> Result<Value, Error> {
    let (started, now) = (Instant::now(), clock::now());
    let check = IdleCheck(directory, chats, to_bot, to_webhook);
    let IdleCheck(directory, chats, ..) = &check;
    let (backlog, deadline) = (Backlog::IdleChecks, started + CHECK_BUDGET);
    let report = Run { chats, backlog, before: now, deadline, max_handled: u32::MAX }.work(&check).await;
    let checked = report.oldest_waiting.unwrap_or(now);
    let failed = report.failed + retention::go_on(directory, chats, checked, started + TIME_BUDGET).await?;
    tracing::info!(closed = report.handled, failed, "looked for idle chats");
    match failed {
        0 => Ok(json!({ "closed": report.handled })),
        failed => Err(Error::internal(("not closed", failed))),
    }
}

impl Handler for IdleCheck {
    /// True when the chat was closed.
    fn handle<'a>(&'a self, overdue: &'a Overdue) -> Handling<'a> {
        Box::pin(async move {
            let Self(directory, chats, to_bot, to_webhook) = self;
            let Some(chat) = chats.due_for_idle_check(overdue).await? else { return Ok(false) };
            let (settings, now) = (directory.cached_settings(&chat.account_id).await?, clock::now());
            if !settings.is_idle(chat.updated_at, now) {
                chats.reschedule_idle_check(overdue, &chat, &settings, now).await?;
                return Ok(false);
            }
            let Some(closed) = chats.close_idle(&chat, &settings, now).await? else { return Ok(false) };
            queue::enqueue_notifications(&closed.notifications, to_bot, to_webhook).await;
            Ok(true)
        })
    }
}
