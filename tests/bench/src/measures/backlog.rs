//! Measures deliveries per second: how fast a backlog of agents' messages reaches the integrator's server. The backlog
//! builds up while the queues reject messages; then `schedule-requeue-deliveries` queues it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use local::LogSink;
use serde_json::json;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats};
use crate::load::message_text;
use crate::progress;
use crate::receiver::Integrator;
use crate::report::{Section, Table};
use crate::statistics::Spread;
use crate::store_calls::http_client;

const MESSAGES: u64 = 500;
const CHATS: u64 = 64;
/// The number of concurrent requests that create the backlog.
const CONCURRENCY: usize = 32;
/// The wait until the sweep queues a delivery: nine seconds until its verdict, a grace period of 15 seconds, and a
/// margin of one second.
const OVERDUE_AFTER: Duration = Duration::from_secs(25);
/// The number of rounds is limited, because each round takes half a minute.
const MAX_ROUNDS: u32 = 3;

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    // The functions log a warning for each message that they cannot queue.
    let bench = BenchHost::start_with_log(arguments, Duration::ZERO, LogSink::Discard).await?;
    let (driver, integrator) = (bench.driver().await?, Integrator::start().await?);
    let chats = OpenChats::create(&driver, "backlog", &integrator.url(), CHATS).await?;
    let (mut rates, mut durations) = (Vec::new(), Vec::new());
    let rounds = arguments.rounds.min(MAX_ROUNDS);
    for round in 1..=rounds {
        progress(&format!("  round {round} of {rounds}"));
        create_backlog(&bench, &chats).await?;
        tokio::time::sleep(OVERDUE_AFTER).await;
        let started = Instant::now();
        bench.host.run_schedule("schedule-requeue-deliveries").await?;
        let arrivals = integrator.accepted.wait_for(usize::try_from(MESSAGES).unwrap_or(usize::MAX)).await?;
        let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else {
            return Err(Error::unexpected("no deliveries"));
        };
        rates.push((arrivals.len() as f64 - 1.0) / (last.1 - first.1).as_secs_f64());
        durations.push((last.1 - started).as_secs_f64());
        driver.wait_until_empty().await?;
    }
    drop(driver);
    bench.host.stop().await;
    let mut table = Table::new(&["", "median (minimum to maximum)"]);
    table.add(["deliveries a second".to_owned(), Spread::of(rates).to_string()]);
    table.add([
        "seconds from the start of the sweep to the last delivery".to_owned(),
        Spread::of(durations).to_string(),
    ]);
    Ok(Section {
        title: "Deliveries from a backlog",
        description: format!(
            "{rounds} rounds with {MESSAGES} messages of an agent in {CHATS} chats, after an outage of SQS."
        ),
        table,
        plots: Vec::new(),
    })
}

/// Sends messages while the queues reject them, so that nothing is delivered.
async fn create_backlog(bench: &BenchHost, chats: &OpenChats) -> Result<(), Error> {
    bench.host.set_sqs_outage(true);
    let (http, token) = (http_client()?, Arc::new(chats.admin.token.clone()));
    let requests = (0..MESSAGES).map(|message| {
        let url = format!("{}/agent/chats/{}/messages", bench.host.base_url(), chats.nth(message));
        let request = http.post(url).bearer_auth(&token).json(&json!({"type": "text", "text": message_text(message)}));
        async move { request.send().await?.error_for_status().map(drop) }
    });
    let sent: Result<Vec<()>, reqwest::Error> =
        stream::iter(requests).buffer_unordered(CONCURRENCY).try_collect().await;
    bench.host.set_sqs_outage(false);
    Ok(sent.map(drop)?)
}
