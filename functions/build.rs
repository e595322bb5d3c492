//! Links the functions' binaries at a fixed address if they are linked with the GNU C library. The dynamic loader then
//! has hardly any relocations to apply, and every binary is 0.7 MB smaller (docs/decisions.md).
#![allow(clippy::disallowed_methods, reason = "cargo describes the target in the environment")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
