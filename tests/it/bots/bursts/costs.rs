//! Without a quiet time, a burst costs as much as before there were turns: docs/costs.md has the requests of a message
//! to a bot, and another test measures those of a bot that does not know turns.

use std::collections::BTreeMap;
use std::time::Duration;

use cost::{Usage, usage_by_function};
use local::cargo_build::workspace_root;
use serde_json::json;

use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::run_on_own_host_with_virtual_time;

const SCENARIO: &str = "visitor's message to a bot";
const VISITORS: [&str; 3] = ["ada", "charles", "grace"];
const BURST: usize = 5;
/// All bursts together are shorter than the ten seconds for which the functions keep the bot and the channel in memory.
const PAUSE: Duration = Duration::from_millis(200);

/// The columns of docs/costs.md: reads, writes, queue requests, read units and write units.
type Counts = [f64; 5];

fn counts(usage: &Usage) -> Counts {
    let queue_requests = usage.fifo_queue_requests + usage.retry_queue_requests;
    [usage.reads, usage.writes, queue_requests, usage.read_units, usage.write_units]
}

/// Returns the row of the scenario and those after it that belong to it, by function.
fn documented_counts() -> BTreeMap<String, Counts> {
    let page = std::fs::read_to_string(workspace_root().join("docs/costs.md")).unwrap();
    let rows = page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let mut rows = rows.skip_while(|cells| cells.get(1) != Some(&SCENARIO)).peekable();
    let first = rows.next().expect("the scenario's row");
    let further = std::iter::from_fn(|| rows.next_if(|cells| cells.get(1) == Some(&"")));
    let counts = |cells: &[&str]| [4, 5, 6, 7, 8].map(|column| cells[column].parse().unwrap());
    std::iter::once(first).chain(further).map(|cells| (cells[2].to_owned(), counts(&cells))).collect()
}

#[test]
fn burst_without_quiet_time_costs_no_request_more_than_documented() {
    run_on_own_host_with_virtual_time(&[], async |host, time| {
        // The documented requests include the task that checks for the bot's answer.
        let fixture = BotFixture::create_with(host, json!({}), json!({"quiet_ms": 0, "answer_within": 120})).await;
        // While nobody is online, a function looks for agents again and again.
        fixture.agent.set_presence("online").await;
        for visitor in VISITORS {
            fixture.channel.send_text(visitor, "Hi").await;
            time.wait_until_idle().await;
        }
        host.local.reset_usage();
        for text in 0..BURST {
            for visitor in VISITORS {
                fixture.channel.send_text(visitor, &format!("Message {text}")).await;
                time.wait_until_idle().await;
                time.advance(PAUSE);
            }
        }
        let usage = usage_by_function(host.local.usage()).unwrap();
        let messages = f64::from(u32::try_from(BURST * VISITORS.len()).unwrap());
        for (function, documented) in documented_counts() {
            assert_eq!(counts(&usage[&function]), documented.map(|count| count * messages), "{function}");
        }
        assert_eq!(fixture.attempts("CLIENT_MESSAGE").len(), (BURST + 1) * VISITORS.len(), "each message is an event");
    });
}
