//! docs/costs.md has the tables that `cargo run --bin cost` prints. Each test has a host of its own, because usage is counted
//! for the whole host.

use cost::report::{self, Standing};
use cost::{Bill, Counts, Workload};
use local::builder::workspace;

use crate::harness::alone_on_own_stage;
use crate::template::{TEMPLATE, functions, program, programs_with_tables};

#[test]
fn costs_page_has_the_tables_of_the_command() {
    alone_on_own_stage(async |stage| {
        let counted = cost::count(&stage.host, stage.operator.bearer()).await.unwrap();
        let page = std::fs::read_to_string(workspace().join("docs/costs.md")).unwrap();
        for table in report::tables(&Workload::default(), &counted, Standing::of(&stage.host).unwrap()) {
            assert!(page.contains(&table), "docs/costs.md differs from this table:\n{table}");
        }
    });
}

#[test]
fn the_priced_memory_is_that_of_the_functions() {
    assert_eq!(TEMPLATE["Globals"]["Function"]["MemorySize"], Workload::default().assumed.memory);
}

#[test]
fn a_start_costs_a_read_when_there_is_a_table() {
    alone_on_own_stage(async |stage| {
        // One after the other: a start that takes long does without its read.
        for (_, properties) in functions() {
            stage.host.start_function(program(properties)).await.unwrap();
        }
        let one = Counts { reads: 1.0, read_units: 1.0, ..Counts::default() };
        let expected: Bill = programs_with_tables().into_iter().map(|function| (function, one)).collect();
        assert_eq!(cost::bill(stage.host.usage()).unwrap(), expected);
    });
}
