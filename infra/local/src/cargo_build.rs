//! Builds the functions with cargo and finds their binaries.
//!
//! [`build`] selects the whole workspace, so that cargo resolves the same features as for `cargo run` and does not
//! compile a crate a second time. Cargo prints its progress to the terminal.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use tokio::process::Command;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CargoProfile {
    Dev,
    /// The profile used to build functions for deployment.
    Release,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot run cargo: {0}")]
    Cargo(#[from] std::io::Error),
    #[error("the functions do not compile; see the compiler errors above")]
    Compile,
    #[error("cargo built no binaries")]
    NoBinaries,
    #[error("cannot find the path of this program: {0}")]
    CurrentExe(std::io::Error),
}

/// Returns the root of the workspace in which this host was compiled.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).unwrap_or(crate_folder).to_owned()
}

/// Builds all binaries in the workspace and returns their folder. Cargo prints compiler errors to the terminal. If
/// another command has built the workspace, `options` must be its options `--examples` and `--features`: otherwise the
/// crates have other features and are compiled again.
pub async fn build(profile: CargoProfile, options: &[&str]) -> Result<PathBuf, Error> {
    let output = build_command(profile, options).kill_on_drop(true).spawn()?.wait_with_output().await?;
    if !output.status.success() {
        return Err(Error::Compile);
    }
    executables_folder(&String::from_utf8_lossy(&output.stdout)).ok_or(Error::NoBinaries)
}

/// Returns the folder that contains the running program. Earlier builds put the function binaries in the same folder.
pub fn existing_binaries() -> Result<PathBuf, Error> {
    let program = std::env::current_exe().map_err(Error::CurrentExe)?;
    Ok(program.parent().unwrap_or(&program).to_owned())
}

fn build_command(profile: CargoProfile, options: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command
        .current_dir(workspace_root())
        .args(["build", "--workspace", "--bins"])
        .args(options)
        .args(["--message-format", "json-render-diagnostics"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if profile == CargoProfile::Release {
        command.arg("--release");
    }
    command
}

/// A message of cargo about something that it has compiled. `executable` is `None` for a library.
#[derive(Deserialize)]
struct CargoMessage {
    executable: Option<PathBuf>,
    target: CargoTarget,
}

#[derive(Deserialize)]
struct CargoTarget {
    kind: Vec<String>,
}

/// Returns the folder of the first binary listed in cargo's output, which has one JSON message per line. Examples are
/// in another folder.
fn executables_folder(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<CargoMessage>(line).ok())
        .filter(|message| message.target.kind.iter().any(|kind| kind == "bin"))
        .find_map(|message| message.executable?.parent().map(Path::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_contains_the_first_binary() {
        let messages = r#"{"reason":"compiler-artifact","target":{"kind":["lib"]},"executable":null}
{"reason":"build-script-executed","out_dir":"/x"}
not json
{"reason":"compiler-artifact","target":{"kind":["example"]},"executable":"/tree/target/debug/examples/server"}
{"reason":"compiler-artifact","target":{"kind":["bin"]},"executable":"/tree/target/debug/agent-login"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executables_folder(messages), Some(PathBuf::from("/tree/target/debug")));
    }

    #[test]
    fn messages_without_binary_have_no_folder() {
        assert_eq!(executables_folder(r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn workspace_root_contains_the_template() {
        assert!(workspace_root().join("template.yaml").is_file());
    }
}
