//! Runs every minute, finds overdue deliveries and queues them again, queues the probes of receivers' outages, and
//! reports the changed statuses of agents and channels to webhooks. A delivery becomes overdue, for example, if a process
//! dies during an attempt, or after the entry was stored and before its task was queued.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::chats::upkeep::requeue_overdue_delivery::{OverdueResult, requeue_overdue_delivery};
use shared::error::Error;
use shared::runtime::outbox::Outbox;
use shared::runtime::{clock, metrics, schedule};
use shared::service::backlog::{BacklogRun, HandlerFuture, OverdueHandler};
use shared::service::outages::Outages;
use shared::service::status_watches::StatusWatches;
use shared::store::chats::Chats;
use shared::store::chats::delivery::due_index::{Backlog, OverdueItem};
use shared::store::connections::Connections;
use shared::store::directory::Directory;

/// How long after its due time a delivery counts as overdue. Until then, its task may simply be delayed in the queue.
const OVERDUE_GRACE: Duration = Duration::from_secs(15);
/// After this time, a run queues no further deliveries, so that it ends before the function's timeout and before the
/// next run.
const SWEEP_TIME_BUDGET: Duration = Duration::from_secs(40);
/// The time for the statuses, which are compared after the deliveries.
const STATUS_TIME_BUDGET: Duration = Duration::from_secs(7);
/// A run ends when it has queued this many deliveries, so that the deliveries of a long outage do not reach the
/// consumers all at once. The next runs queue the rest.
const MAX_REQUEUED_DELIVERIES: u32 = 10_000;

fn main() -> ExitCode {
    schedule::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, (): ()) -> Result<Value, Error> {
    let outages = Outages { directory: &directory, chats: &chats, outbox: &outbox };
    let failed_outages = outages.queue_due_probes(clock::now()).await;
    let run = BacklogRun {
        chats: &chats,
        backlog: Backlog::Deliveries,
        due_before: clock::now().minus(OVERDUE_GRACE),
        deadline: Instant::now() + SWEEP_TIME_BUDGET,
        max_changed_items: MAX_REQUEUED_DELIVERIES,
    };
    let report = run.process(&Sweep { directory: &directory, chats: &chats, outbox: &outbox }).await;
    tracing::info!(requeued = report.changed, failed = report.failed, "overdue deliveries requeued");
    let watches = StatusWatches { directory: &directory, chats: &chats, connections: &connections, outbox: &outbox };
    let failed_watches = watches.report_changes(clock::now(), Instant::now() + STATUS_TIME_BUDGET).await;
    let failures = [
        ("overdue deliveries not requeued", report.failed),
        ("outages not probed", failed_outages),
        ("statuses not compared", failed_watches),
    ];
    match failures.into_iter().find(|(_, failed)| *failed > 0) {
        None => Ok(json!({ "requeued": report.changed })),
        Some(failure) => Err(Error::internal(failure)),
    }
}

struct Sweep<'a> {
    directory: &'a Directory,
    chats: &'a Chats,
    outbox: &'a Outbox,
}

impl OverdueHandler for Sweep<'_> {
    /// Returns whether the delivery was queued again.
    fn handle<'a>(&'a self, overdue: &'a OverdueItem) -> HandlerFuture<'a> {
        Box::pin(async move {
            match requeue_overdue_delivery(self.chats, self.directory, overdue, clock::now()).await? {
                OverdueResult::NotNeeded => Ok(false),
                OverdueResult::Failed { entry, handover, events } => {
                    metrics::count_abandoned_delivery(&entry, handover.is_some());
                    self.outbox.enqueue(&[handover.unwrap_or_default(), events].concat()).await;
                    Ok(false)
                }
                OverdueResult::Requeued(entry) => {
                    self.outbox.send_first_attempt(&entry).await?;
                    Ok(true)
                }
            }
        })
    }
}
