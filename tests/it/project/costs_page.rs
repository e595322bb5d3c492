//! Checks that docs/costs.md contains the tables that `cargo run --bin cost` prints, and checks the memory that the
//! prices assume and the cost of starting a function. A test that measures usage runs on its own host, because a host
//! does not count usage separately for each test.

use cost::report::{self, FixedResources};
use cost::{Scenario, Usage, UsageByFunction, Workload};
use local::cargo_build::workspace_root;

use crate::project::sam_template::{TEMPLATE, functions, program_name, programs_with_tables};
use crate::support::test_host::run_alone_on_own_host;

#[test]
fn matches_the_output_of_the_cost_command() {
    run_alone_on_own_host(async |host| {
        let usage = cost::measure_all_scenarios(&host.local, host.operator.token()).await.unwrap();
        let page = without_round_trips(&std::fs::read_to_string(workspace_root().join("docs/costs.md")).unwrap());
        for table in report::tables(&Workload::default(), &usage, FixedResources::of(&host.local).unwrap()) {
            assert!(page.contains(&without_round_trips(&table)), "docs/costs.md differs from this table:\n{table}");
        }
        for (scenario, function, round_trips) in [
            (Scenario::VisitorMessage, "channel-receive-message", 2.0),
            (Scenario::StatusRequest, "channel-show-status", 1.0),
            (Scenario::AgentMessage, "agent-send-message", 3.0),
        ] {
            assert_eq!(usage[&scenario][function].round_trips, round_trips, "{scenario:?}");
        }
    });
}

/// Removes the "round trips" column from each table that has one. On a busy machine, the tables may process
/// simultaneous requests one after the other, which then count as several round trips.
fn without_round_trips(page: &str) -> String {
    let mut column = None;
    let mut lines = Vec::new();
    for line in page.lines() {
        let mut cells: Vec<&str> = line.split('|').collect();
        if !line.starts_with('|') {
            column = None;
        } else if let Some(at) = cells.iter().position(|cell| *cell == " round trips ") {
            column = Some(at);
        }
        if let Some(at) = column {
            cells.remove(at);
        }
        lines.push(cells.join("|"));
    }
    lines.join("\n")
}

#[test]
fn priced_memory_matches_the_template() {
    assert_eq!(TEMPLATE["Globals"]["Function"]["MemorySize"], Workload::default().assumptions.memory);
}

#[test]
fn function_start_with_a_table_costs_one_read() {
    run_alone_on_own_host(async |host| {
        // Start one function at a time, because a function that is slow to start may never send the read that
        // opens its DynamoDB connection.
        for (_, properties) in functions() {
            host.local.start_function(program_name(properties)).await.unwrap();
        }
        let one_read = Usage { reads: 1.0, round_trips: 1.0, read_units: 1.0, ..Usage::default() };
        let expected: UsageByFunction =
            programs_with_tables().await.into_iter().map(|function| (function, one_read)).collect();
        assert_eq!(cost::usage_by_function(host.local.usage()).unwrap(), expected);
    });
}
