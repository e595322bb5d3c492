//! What it costs to export spans: the latency of warm invocations with and without a collector on the loopback address.

use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats};
use crate::measures::programs::channel_message;
use crate::program::Process;
use crate::progress;
use crate::report::{Section, Table};
use crate::statistics::{Latencies, Spread, milliseconds};

const WARM_UP_INVOCATIONS: u64 = 100;
const INVOCATIONS_PER_ROUND: u64 = 500;
const CHATS: u64 = 20;
/// How much longer each request to a table takes. On AWS, requests take about this long.
const STORE_LATENCY: Duration = Duration::from_millis(5);
const UNREACHABLE_RECEIVER: &str = "http://127.0.0.1:9/";
const ENDPOINT_VARIABLE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const LABELS: [&str; 2] = ["without a collector", "with a collector"];

/// A server that accepts all spans. Dropping this value stops it.
struct Collector {
    url: String,
    server: JoinHandle<()>,
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Collector {
    async fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(async || [(CONTENT_TYPE, "application/x-protobuf")]);
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { url, server })
    }
}

/// One round of one program.
struct Round {
    latencies: Latencies,
    cpu: Duration,
}

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    let collector = Collector::start().await?;
    let bench = BenchHost::start(arguments, STORE_LATENCY).await?;
    let chats = OpenChats::create(&bench.driver().await?, "traces", UNREACHABLE_RECEIVER, 2 * CHATS).await?;
    let tables = bench.host.tables_url("bench");
    let programs =
        [channel_message(arguments), channel_message(arguments).with_variable(ENDPOINT_VARIABLE, &collector.url)];
    let mut rounds = Vec::new();
    for round in 1..=arguments.rounds {
        progress(&format!("  round {round} of {}", arguments.rounds));
        let [without, with] = &programs;
        rounds.push(measure_in_turn([without.start(&tables).await?, with.start(&tables).await?], &chats).await?);
    }
    bench.host.stop().await;
    Ok(section(&rounds, arguments.rounds))
}

/// Invokes both processes in turn, so that a change of the machine's speed affects both. Each has chats of its own, so
/// that neither finds that the other has changed them.
async fn measure_in_turn(mut processes: [Process; 2], chats: &OpenChats) -> Result<[Round; 2], Error> {
    let mut rounds = [Latencies::new()?, Latencies::new()?].map(|latencies| Round { latencies, cpu: Duration::ZERO });
    for message in 0..WARM_UP_INVOCATIONS + INVOCATIONS_PER_ROUND {
        for (index, (process, round)) in processes.iter_mut().zip(&mut rounds).enumerate() {
            process.wait_until_ready().await?;
            if message == WARM_UP_INVOCATIONS {
                round.cpu = process.cpu_time()?;
            }
            let chat = index as u64 * CHATS + message % CHATS + 1;
            let latency = process.invoke(chats.visitor_event(chat, "Good morning")).await?;
            if message >= WARM_UP_INVOCATIONS {
                round.latencies.record(latency);
            }
        }
    }
    for (process, round) in processes.into_iter().zip(&mut rounds) {
        round.cpu = (process.cpu_time()? - round.cpu).div_f64(round.latencies.count() as f64);
        process.stop().await?;
    }
    Ok(rounds)
}

fn section(rounds: &[[Round; 2]], round_count: u32) -> Section {
    let mut table = Table::new(&["program", "p50, ms", "p99, ms", "processor, ms"]);
    for (index, label) in LABELS.into_iter().enumerate() {
        let of_program = || rounds.iter().filter_map(|round| round.get(index));
        let spread = |value: fn(&Round) -> f64| Spread::of(of_program().map(value)).to_string();
        let cells = [
            spread(|round| round.latencies.quantile(0.5)),
            spread(|round| round.latencies.quantile(0.99)),
            spread(|round| milliseconds(round.cpu)),
        ];
        table.add([label.to_owned()].into_iter().chain(cells));
    }
    let ratio = |[without, with]: &[Round; 2]| with.latencies.quantile(0.5) / without.latencies.quantile(0.5);
    let added = Spread::of(rounds.iter().map(|round| 100.0 * (ratio(round) - 1.0)));
    Section {
        title: "Traces",
        description: format!(
            "{round_count} rounds of {INVOCATIONS_PER_ROUND} invocations of `channel-receive-message` with and without a \
             collector, in turn. Each request to the tables takes {STORE_LATENCY:?} longer. The export adds {added} % to \
             the median of a round."
        ),
        table,
        plots: Vec::new(),
    }
}
