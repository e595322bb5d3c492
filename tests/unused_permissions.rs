//! Fails if a policy of template.yaml allows an operation that no function made in `tests/it`. That suite must have run
//! completely before. A missing permission fails there, because the local host refuses the operation as AWS does.

use std::path::Path;

#[test]
fn every_permission_is_used() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unused-permissions");
    let unused = std::fs::read_to_string(file).unwrap_or_else(|_| "unknown, because tests/it has not run".to_owned());
    assert!(unused.is_empty(), "unused permissions:\n{unused}");
}
