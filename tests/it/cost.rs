//! What the README says of costs is what `cargo run -p cost` counts where the functions reach the services. The tests
//! are alone on a host of their own: its counts are everybody's.

use cost::report::{self, Standing};
use cost::{Bill, Counts, Workload};
use local::builder::workspace;

use crate::harness::alone_on_own_stage;
use crate::template::{TEMPLATE, functions, program, programs_with_tables};

#[test]
fn the_readme_has_the_tables_of_the_command() {
    alone_on_own_stage(async |stage| {
        let counted = cost::count(&stage.host, stage.operator.bearer()).await.unwrap();
        let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
        for table in report::tables(&Workload::default(), &counted, Standing::of(&stage.host).unwrap()) {
            assert!(readme.contains(&table), "README.md has another table than this one:\n{table}");
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
