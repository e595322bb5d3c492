//! Warm invocations: latency, processor time, and the peak memory usage of a process.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats};
use crate::measures::programs::programs;
use crate::plot::{Bars, Plot};
use crate::program::{Process, Program};
use crate::progress;
use crate::report::{Section, Table};
use crate::statistics::{Latencies, Spread, milliseconds};
use crate::store_calls::{Recorder, StoreCall, StoreCallRepeater};

/// The number of invocations before those that are measured in a round. They fill caches and let the runtimes compile
/// the code.
const WARM_UP_INVOCATIONS: u64 = 200;
const INVOCATIONS_PER_ROUND: u64 = 1_000;
const CHATS: u64 = 20;
/// The chat whose requests are recorded and repeated. Nothing else changes it.
const RECORDED_CHAT: u64 = CHATS + 1;
const UNREACHABLE_RECEIVER: &str = "http://127.0.0.1:9/";
const STORE_CALLS: &str = "its requests alone";

/// One round of one program. Times are in milliseconds.
struct Round {
    p50: f64,
    p99: f64,
    /// The average processor time of an invocation. `None` for the repeated requests, which have no process of their
    /// own.
    cpu: Option<f64>,
    /// The peak memory usage of the process. `None` for the repeated requests, like `cpu`.
    memory_mb: Option<f64>,
}

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    let bench = BenchHost::start(arguments, Duration::ZERO).await?;
    let chats = OpenChats::create(&bench.driver().await?, "warm", UNREACHABLE_RECEIVER, RECORDED_CHAT).await?;
    let (tables, programs) = (bench.host.tables_url("bench"), programs(arguments)?);
    let calls = record_warm_invocation(&programs, &chats, &tables).await?;
    let call_count = calls.len();
    let mut repeater = StoreCallRepeater::new(&tables, calls)?;
    let mut rounds: Vec<(&str, Vec<Round>)> = programs.iter().map(|program| (program.label, Vec::new())).collect();
    let mut store_rounds = Vec::new();
    for round in 1..=arguments.rounds {
        progress(&format!("  round {round} of {}", arguments.rounds));
        for (program, (_, rounds)) in programs.iter().zip(&mut rounds) {
            rounds.push(measure_program(program, &chats, &tables).await?);
        }
        store_rounds.push(measure_store_calls(&mut repeater).await?);
    }
    bench.host.stop().await;
    rounds.insert(1, (STORE_CALLS, store_rounds));
    Ok(section(&rounds, arguments.rounds, call_count))
}

/// Returns the requests to the tables that a warm invocation of the first program makes for a further message of a
/// visitor. Fails if another program makes different requests for a visitor's first message to its process: only the
/// first program remembers the chat, and then makes its first two requests at the same time. A program that makes none,
/// such as the bare function, is accepted.
async fn record_warm_invocation(
    programs: &[Program],
    chats: &OpenChats,
    tables: &str,
) -> Result<Vec<StoreCall>, Error> {
    let recorder = Recorder::start(tables).await?;
    let (mut first_message, mut further_message) = (Vec::new(), Vec::new());
    let mut peers = Vec::new();
    // The first program runs last, because its recorded requests are repeated later, and a subsequent invocation of
    // another program would change the chat's header.
    for (index, program) in programs.iter().enumerate().rev() {
        let mut process = program.start(&recorder.url).await?;
        let mut calls = Vec::new();
        // The message in another chat fills the caches.
        for chat in [1, RECORDED_CHAT, RECORDED_CHAT] {
            process.wait_until_ready().await?;
            recorder.take();
            process.invoke(chats.visitor_event(chat, "Good morning")).await?;
            calls.push(recorder.take());
        }
        process.stop().await?;
        let last = calls.pop().unwrap_or_default();
        match (index, calls.pop().unwrap_or_default()) {
            (0, calls) => (first_message, further_message) = (calls, last),
            (_, calls) => peers.push((program.label, calls)),
        }
    }
    let shapes = |calls: &[StoreCall]| calls.iter().map(StoreCall::shape).collect::<Vec<_>>();
    let differing = peers.iter().find(|(_, calls)| !calls.is_empty() && shapes(calls) != shapes(&first_message));
    if let Some((label, calls)) = differing {
        return Err(Error::unexpected(format!("{label} makes other requests: {calls:#?}")));
    }
    let operations = |calls: &[StoreCall]| calls.iter().map(|call| call.target.clone()).collect::<BTreeSet<_>>();
    if further_message.len() != first_message.len() || operations(&further_message) != operations(&first_message) {
        return Err(Error::unexpected(format!("a further message makes other requests: {further_message:#?}")));
    }
    Ok(further_message)
}

async fn measure_program(program: &Program, chats: &OpenChats, tables: &str) -> Result<Round, Error> {
    let mut process = program.start(tables).await?;
    for message in 0..WARM_UP_INVOCATIONS {
        invoke(&mut process, chats, message).await?;
    }
    let (mut latencies, cpu_before) = (Latencies::new()?, process.cpu_time()?);
    for message in 0..INVOCATIONS_PER_ROUND {
        latencies.record(invoke(&mut process, chats, message).await?);
    }
    process.wait_until_ready().await?;
    let cpu = (process.cpu_time()? - cpu_before).div_f64(latencies.count() as f64);
    let memory_mb = process.peak_memory_mb()?;
    process.stop().await?;
    let (p50, p99) = (latencies.quantile(0.5), latencies.quantile(0.99));
    Ok(Round { p50, p99, cpu: Some(milliseconds(cpu)), memory_mb: Some(memory_mb) })
}

async fn invoke(process: &mut Process, chats: &OpenChats, message: u64) -> Result<Duration, Error> {
    process.wait_until_ready().await?;
    process.invoke(chats.visitor_event(message % CHATS + 1, "Good morning")).await
}

async fn measure_store_calls(repeater: &mut StoreCallRepeater) -> Result<Round, Error> {
    let mut latencies = Latencies::new()?;
    for message in 0..WARM_UP_INVOCATIONS + INVOCATIONS_PER_ROUND {
        let duration = repeater.repeat().await?;
        if message >= WARM_UP_INVOCATIONS {
            latencies.record(duration);
        }
    }
    Ok(Round { p50: latencies.quantile(0.5), p99: latencies.quantile(0.99), cpu: None, memory_mb: None })
}

fn section(rounds: &[(&str, Vec<Round>)], round_count: u32, call_count: usize) -> Section {
    let mut table = Table::new(&["program", "p50, ms", "p99, ms", "processor, ms", "peak memory, MB"]);
    let mut bars = Vec::new();
    for (label, rounds) in rounds {
        let spread = |value: fn(&Round) -> Option<f64>| Spread::of(rounds.iter().filter_map(value));
        let cell = |spread: Spread| if spread.median.is_nan() { "-".to_owned() } else { spread.to_string() };
        let p50 = spread(|round| Some(round.p50));
        bars.push(((*label).to_owned(), p50));
        let others = [spread(|round| Some(round.p99)), spread(|round| round.cpu), spread(|round| round.memory_mb)];
        table.add([(*label).to_owned(), p50.to_string()].into_iter().chain(others.map(cell)));
    }
    Section {
        title: "Warm invocations",
        description: format!(
            "{round_count} rounds of {INVOCATIONS_PER_ROUND} invocations, each with a visitor's text in one of {CHATS} \
             open chats: {call_count} requests to the tables. `channel-receive-message` makes all but the last at the same time, \
             the peers make them one after the other. *{STORE_CALLS}*: the requests of `channel-receive-message` by a plain \
             HTTP client."
        ),
        table,
        plots: vec![("warm", Plot::Bars(Bars { title: "Warm invocation: p50 in milliseconds".to_owned(), bars }))],
    }
}
