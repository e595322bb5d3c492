//! Fails if a policy in template.yaml allows an operation that no function has performed in `tests/it`. Run all of
//! `tests/it` first. A missing permission causes a failure in `tests/it`, because the local host denies the operation
//! in the same way as AWS.

use std::path::Path;

#[test]
fn every_permission_is_used() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unused-permissions");
    let unused = std::fs::read_to_string(file).unwrap_or_else(|_| "unknown, because tests/it has not run".to_owned());
    assert!(unused.is_empty(), "unused permissions:\n{unused}");
}
