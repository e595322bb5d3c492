//! Measures whether a filtered list of open chats costs the same in an account with many open chats. Each request to a
//! table takes longer than the rest together, so the latency shows how many requests are made one after the other.

use std::time::{Duration, Instant};

use cost::{Driver, LoggedInAgent, Usage};
use serde_json::Value;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats};
use crate::measures::growth::{Dimension, Models};
use crate::progress;
use crate::receiver::Integrator;
use crate::report::{Section, Table};
use crate::statistics::{Latencies, rounded};
use crate::store_calls::Store;

const CHAT_COUNTS: [u64; 3] = [1, 1_000, 100_000];
const STORE_LATENCY: Duration = Duration::from_millis(20);
/// How often each list is read.
const LISTS: u64 = 30;
/// How often it is read before, so that a process is running and has filled its caches.
const WARM_UP_LISTS: u64 = 5;
/// The lists: all chats, those in which the visitor wrote last, which are all of them, and two filters that select
/// none.
const QUERIES: [&str; 5] = ["", "&unanswered=true", "&tag_id=1", "&mentioned=true", "&snoozed=true"];

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    let bench = BenchHost::start(arguments, STORE_LATENCY).await?;
    let (driver, integrator) = (bench.driver().await?, Integrator::start().await?);
    let chats = OpenChats::create(&driver, "filters", &integrator.url(), 1).await?;
    let models = Models::read(Store::new(&bench.host.tables_url("bench"))?, &chats).await?;
    let mut table = Table::new(&["", "p50, ms", "one after the other", "requests", "read units"]);
    let mut size = 1;
    for next_size in CHAT_COUNTS {
        progress(&format!("  {next_size} open chats"));
        models.grow(Dimension::Chats, size + 1, next_size).await?;
        size = next_size;
        for query in QUERIES {
            let cells = measure(&driver, &chats.admin, query).await?;
            table.add([format!("{size} open chats{query}")].into_iter().chain(cells));
        }
    }
    drop(driver);
    bench.host.stop().await;
    Ok(Section {
        title: "Filters",
        description: format!(
            "The first page of `GET /agent/chats?state=open`, {LISTS} times each, if each request to a table takes \
             {} ms longer: how many of them are made one after the other, and all of them.",
            STORE_LATENCY.as_millis()
        ),
        table,
        plots: Vec::new(),
    })
}

/// Returns the cells of a list's row.
async fn measure(driver: &Driver<'_>, admin: &LoggedInAgent, query: &str) -> Result<[String; 4], Error> {
    let path = format!("/agent/chats?state=open{query}");
    let list = async || driver.api.get::<Value>(&path, &admin.token).await;
    for _ in 0..WARM_UP_LISTS {
        list().await?;
    }
    driver.reset_usage().await?;
    let mut latencies = Latencies::new()?;
    for _ in 0..LISTS {
        let started = Instant::now();
        list().await?;
        latencies.record(started.elapsed());
    }
    let mut usage = Usage::default();
    driver.usage()?.into_values().for_each(|function| usage += function);
    let Usage { reads, writes, read_units, .. } = usage;
    let (p50, each) = (latencies.quantile(0.5), |total: f64| format!("{:.2}", total / LISTS as f64));
    let round_trips = (p50 / STORE_LATENCY.as_millis() as f64).floor();
    Ok([rounded(p50), round_trips.to_string(), each(reads + writes), each(read_units)])
}
