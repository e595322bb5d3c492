//! Every minute: finds deliveries that should long be over, because a process died between storing and
//! queueing or in the middle of a try, and begins them anew. A query for each partition of the backlog; a read, a write and a
//! queue request for each delivery.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::error::Error;
use shared::runtime::queue::{self, BotQueue, ChannelQueue, WebhookQueue};
use shared::runtime::{clock, consumer, metrics};
use shared::service::backlog::{Handler, Handling, Run};
use shared::store::chats::Chats;
use shared::store::chats::deliveries::{Backlog, Overdue, Revived};

/// How long a delivery may be over its verdict before it counts as lost: a queue may be slow.
const GRACE: Duration = Duration::from_secs(15);
/// How long a run begins deliveries anew: it ends before the function's time-out and before the next minute's run.
const TIME_BUDGET: Duration = Duration::from_secs(40);
/// The most deliveries that a run queues: more than the queues' consumers do in a minute would only be queued again.
const MAX_REQUEUED: u32 = 10_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run_scheduled(handle).await
}

type Queues = (ChannelQueue, BotQueue, WebhookQueue);

async fn handle(
    (chats, to_channel, to_bot, to_webhook): (Chats, ChannelQueue, BotQueue, WebhookQueue),
) -> Result<Value, Error> {
    let run = Run {
        chats: &chats,
        backlog: Backlog::Deliveries,
        before: clock::now().before(GRACE),
        deadline: Instant::now() + TIME_BUDGET,
        max_handled: MAX_REQUEUED,
    };
    let report = run.work(&Sweep { chats: &chats, queues: (to_channel, to_bot, to_webhook) }).await;
    tracing::info!(revived = report.handled, failed = report.failed, "swept");
    match report.failed {
        0 => Ok(json!({ "revived": report.handled })),
        failed => Err(Error::internal(("not swept", failed))),
    }
}

struct Sweep<'a> {
    chats: &'a Chats,
    queues: Queues,
}

impl Handler for Sweep<'_> {
    /// True when the delivery was queued.
    fn handle<'a>(&'a self, overdue: &'a Overdue) -> Handling<'a> {
        Box::pin(async move {
            match self.chats.revive(overdue, clock::now()).await? {
                Revived::Not => Ok(false),
                Revived::Failed(entry, is_handed_over) => {
                    metrics::given_up(&entry, is_handed_over);
                    Ok(false)
                }
                Revived::Begun(entry) => {
                    let (to_channel, to_bot, to_webhook) = &self.queues;
                    queue::send_round(&entry, (to_channel, to_bot, to_webhook)).await?;
                    Ok(true)
                }
            }
        })
    }
}
