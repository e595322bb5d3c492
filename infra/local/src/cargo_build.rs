//! Builds the functions with cargo and says where their binaries are.
//!
//! The whole workspace is built, as `default-members` has it for the command that runs the host: the features of crates are
//! unified over all members both times, so no crate is compiled twice. Cargo's own progress goes to the terminal as it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use tokio::process::Command;

/// How the functions are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Quick to build.
    Dev,
    /// As deployed.
    Release,
}

/// Why there are no binaries.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Cargo is not installed, or cannot be run.
    #[error("cannot run cargo: {0}")]
    Cargo(#[from] std::io::Error),
    /// The compiler said why, above.
    #[error("the functions do not compile; the reason is above")]
    Compile,
    /// A workspace without programs.
    #[error("the build made no binary")]
    Nothing,
    /// There is no folder to take built binaries from.
    #[error("cannot tell where this program is: {0}")]
    Here(std::io::Error),
}

/// The root of the workspace this host was compiled in.
#[must_use]
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Builds every binary of the workspace and returns their folder.
///
/// # Errors
/// Cargo cannot be run, or the code does not compile; the compiler's words are on the terminal by then.
pub async fn build(profile: Profile) -> Result<PathBuf, Error> {
    let built = cargo(profile).kill_on_drop(true).spawn()?.wait_with_output().await?;
    if !built.status.success() {
        return Err(Error::Compile);
    }
    binaries_folder(&String::from_utf8_lossy(&built.stdout)).ok_or(Error::Nothing)
}

/// The folder of this very program, where an earlier build left the functions too.
///
/// # Errors
/// The system does not say where this program is.
pub fn already_built() -> Result<PathBuf, Error> {
    let program = std::env::current_exe().map_err(Error::Here)?;
    Ok(program.parent().unwrap_or(&program).to_owned())
}

fn cargo(profile: Profile) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command
        .current_dir(workspace())
        .args(["build", "--workspace", "--bins", "--message-format", "json-render-diagnostics"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if profile == Profile::Release {
        command.arg("--release");
    }
    command
}

/// One line of cargo's report; lines about anything but a program have no executable.
#[derive(Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
}

fn binaries_folder(report: &str) -> Option<PathBuf> {
    report
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok()?.executable)
        .find_map(|program| program.parent().map(Path::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_read_from_the_first_program_in_the_report() {
        let report = r#"{"reason":"compiler-artifact","executable":null}
{"reason":"build-script-executed","out_dir":"/x"}
not json
{"reason":"compiler-artifact","executable":"/tree/target/debug/agent-login"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(binaries_folder(report), Some(PathBuf::from("/tree/target/debug")));
    }

    #[test]
    fn a_report_without_programs_has_no_folder() {
        assert_eq!(binaries_folder(r#"{"reason":"build-finished","success":true}"#), None);
    }

    #[test]
    fn the_workspace_is_where_the_template_is() {
        assert!(workspace().join("template.yaml").is_file());
    }
}
