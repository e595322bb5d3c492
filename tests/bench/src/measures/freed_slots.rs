//! Measures how soon a freed slot takes the oldest waiting chat: from the request that closes a chat until the next one
//! has the agent.

use std::time::{Duration, Instant};

use cost::{Driver, LoggedInAgent};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats};
use crate::progress;
use crate::receiver::Integrator;
use crate::report::{Section, Table};
use crate::statistics::{Latencies, rounded};

/// How many slots are freed, one after the other.
const FREED: u64 = 200;
/// The first ones are not counted: processes may still know the settings from before the assignment, for ten seconds.
const WARM_UP: u64 = 20;
const PROBE_INTERVAL: Duration = Duration::from_millis(2);
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    let bench = BenchHost::start(arguments, Duration::ZERO).await?;
    let (driver, integrator) = (bench.driver().await?, Integrator::start().await?);
    let chats = OpenChats::create(&driver, "slots", &integrator.url(), 1).await?;
    let admin = &chats.admin;
    driver.api.put("/agent/presence", &admin.token, &json!({"status": "online"})).await?;
    let assignment = json!({"assignment": {"mode": "round_robin", "capacity": 1}});
    driver.api.put("/admin/settings", &admin.token, &assignment).await?;
    let last = 1 + WARM_UP + FREED;
    for chat in 2..=last {
        driver.send_visitor_message(&chats.channel_path, &format!("visitor-{chat}")).await?;
    }
    let mut latencies = Latencies::new()?;
    for chat in 1..last {
        if chat % 50 == 0 {
            progress(&format!("  {chat} of {last} slots"));
        }
        let started = Instant::now();
        driver.chat_action(admin, chat, "close", json!({})).await?;
        wait_until_active(&driver, admin, chat + 1).await?;
        if chat > WARM_UP {
            latencies.record(started.elapsed());
        }
    }
    drop(driver);
    bench.host.stop().await;
    let mut table = Table::new(&["p50, ms", "p99, ms", "longest, ms"]);
    table.add([0.5, 0.99, 1.0].map(|quantile| rounded(latencies.quantile(quantile))));
    Ok(Section {
        title: "Freed slots",
        description: format!(
            "{FREED} chats wait for one agent with a capacity of one: from the request that closes a chat until the \
             next chat has the agent, asked every {} ms.",
            PROBE_INTERVAL.as_millis()
        ),
        table,
        plots: Vec::new(),
    })
}

async fn wait_until_active(driver: &Driver<'_>, agent: &LoggedInAgent, chat: u64) -> Result<(), Error> {
    let deadline = Instant::now() + TIMEOUT;
    while Instant::now() < deadline {
        let shown = driver.api.get::<Value>(&format!("/agent/chats/{chat}"), &agent.token).await?;
        if shown.get("state").and_then(Value::as_str) == Some("active") {
            return Ok(());
        }
        tokio::time::sleep(PROBE_INTERVAL).await;
    }
    Err(Error::unexpected("a chat that is not assigned"))
}
