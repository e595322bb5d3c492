//! Compares what every policy of template.yaml allows with what the function called in `tests/it`, which must have run
//! before, all of it. What a policy lacks has failed there already: the local host refuses it as AWS does.

use std::path::Path;

#[test]
fn every_permission_was_needed() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unused-permissions");
    let unused = std::fs::read_to_string(file).unwrap_or_else(|_| "unknown: run tests/it first".to_owned());
    assert!(unused.is_empty(), "allowed for nothing:\n{unused}");
}
