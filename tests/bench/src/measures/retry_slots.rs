//! Measures how late the attempts of a failing delivery are. The attempts are due 0, 3 and 6 seconds after the message
//! was sent.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats};
use crate::load::{Schedule, message_text};
use crate::progress;
use crate::receiver::Integrator;
use crate::report::{Section, Table};
use crate::statistics::{Spread, milliseconds};
use crate::store_calls::http_client;

const CHATS: u64 = 20;
/// Messages per second: `FAILING_RATE` is for failing messages, and `OTHER_RATE` for messages of another account that
/// are delivered at the same time.
const FAILING_RATE: u32 = 5;
const OTHER_RATE: u32 = 50;
const DURATION: Duration = Duration::from_secs(15);
const SLOT: Duration = Duration::from_secs(3);
const ATTEMPTS: usize = 3;
const MAX_ROUNDS: u32 = 3;

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    let bench = BenchHost::start(arguments, Duration::ZERO).await?;
    let (driver, integrator) = (bench.driver().await?, Integrator::start().await?);
    let failing = OpenChats::create(&driver, "failing", &integrator.refusing_url(), CHATS).await?;
    let others = OpenChats::create(&driver, "others", &integrator.url(), CHATS).await?;
    let rounds = arguments.rounds.min(MAX_ROUNDS);
    let mut lateness: [Vec<f64>; ATTEMPTS] = Default::default();
    for round in 1..=rounds {
        progress(&format!("  round {round} of {rounds}"));
        let schedule = Schedule::new(FAILING_RATE, DURATION);
        let load = Schedule::new(OTHER_RATE, DURATION);
        let (sent, loaded) = tokio::join!(send(&bench, &failing, schedule), send(&bench, &others, load));
        sent?;
        loaded?;
        let attempts = usize::try_from(schedule.count).unwrap_or(usize::MAX) * ATTEMPTS;
        add_lateness(&mut lateness, schedule, integrator.refused.wait_for(attempts).await?);
        driver.wait_until_empty().await?;
    }
    drop(driver);
    bench.host.stop().await;
    Ok(section(rounds, lateness))
}

async fn send(bench: &BenchHost, chats: &OpenChats, schedule: Schedule) -> Result<(), Error> {
    let http = http_client()?;
    let send = |message| {
        let url = format!("{}/agent/chats/{}/messages", bench.host.base_url(), chats.nth(message));
        let body = json!({"type": "text", "text": message_text(message)});
        let request = http.post(url).bearer_auth(&chats.admin.token).json(&body);
        async move {
            request.send().await?.error_for_status()?;
            Ok(())
        }
    };
    schedule.run(send).await
}

/// Adds how late each attempt was, in milliseconds. The value is negative if the attempt was early.
fn add_lateness(lateness: &mut [Vec<f64>; ATTEMPTS], schedule: Schedule, attempts: Vec<(u64, Instant)>) {
    let mut by_message: BTreeMap<u64, Vec<Instant>> = BTreeMap::new();
    for (message, at) in attempts {
        by_message.entry(message).or_default().push(at);
    }
    for (message, attempts) in by_message {
        let slots = std::iter::successors(Some(schedule.at(message)), |slot| Some(*slot + SLOT));
        for ((lateness, slot), attempt) in lateness.iter_mut().zip(slots).zip(attempts) {
            let late = attempt.saturating_duration_since(slot);
            let early = slot.saturating_duration_since(attempt);
            lateness.push(milliseconds(late) - milliseconds(early));
        }
    }
}

fn section(rounds: u32, lateness: [Vec<f64>; ATTEMPTS]) -> Section {
    let mut table = Table::new(&["attempt", "lateness, ms: median (minimum to maximum)"]);
    for (attempt, lateness) in lateness.into_iter().enumerate() {
        table.add([format!("after {} s", attempt as u64 * SLOT.as_secs()), Spread::of(lateness).to_string()]);
    }
    Section {
        title: "Retry slots",
        description: format!(
            "{rounds} rounds of {DURATION:?} with {FAILING_RATE} messages a second to a server that answers 500, while \
             another account sends {OTHER_RATE} a second. The slots count from the intended start of the agent's request."
        ),
        table,
        plots: Vec::new(),
    }
}
