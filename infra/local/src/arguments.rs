//! What the command line says, and what follows from it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use axum::Router;
use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::builder::{self, Profile};
use crate::home::{self, Home};
use crate::{LogSink, Options, Storage};

/// The networks of this machine, which functions may call here.
pub(crate) const PRIVATE_TARGETS: &str = "127.0.0.0/8,::1/128";

/// Runs the whole service on this machine, without AWS.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version)]
pub struct Arguments {
    /// Port to serve on; 0 takes a free one
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Folder that keeps everything between runs [default: .switchboard in the workspace]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Start empty and keep nothing
    #[arg(long, conflicts_with = "data")]
    memory: bool,
    /// Write addresses and keys to this file (JSON) when every function can be called
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// The template to serve [default: template.yaml in the workspace]
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Override a parameter of the template; may be repeated
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,
    /// Level of the functions' logs
    #[arg(long, value_name = "LEVEL", default_value = "INFO", ignore_case = true, value_parser = level())]
    log_level: String,
    /// Show every log line of the functions, not only warnings and errors
    #[arg(long)]
    verbose: bool,
    /// Serve what is built already
    #[arg(long, conflicts_with = "release")]
    no_build: bool,
    /// Build the functions as they are deployed
    #[arg(long)]
    release: bool,
}

/// An argument of `--parameter` without an equals sign.
#[derive(Debug, thiserror::Error)]
#[error("expected NAME=VALUE")]
struct NotAParameter;

fn parameter(text: &str) -> Result<(String, String), NotAParameter> {
    let (name, value) = text.split_once('=').ok_or(NotAParameter)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// What the template's `LogLevel` may be, in its spelling.
fn level() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(["TRACE", "DEBUG", "INFO"]).map(|level| level.to_ascii_uppercase())
}

impl Arguments {
    /// Where this run keeps what it must remember.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open_home(&self) -> Result<Home, home::Error> {
        if self.memory {
            return Ok(Home::Memory);
        }
        let default = || builder::workspace().join(".switchboard");
        Home::open(self.data.clone().unwrap_or_else(default))
    }

    /// Builds the functions, unless told otherwise, and returns the folder of their binaries.
    ///
    /// # Errors
    /// They do not compile.
    pub async fn binaries(&self) -> Result<PathBuf, builder::Error> {
        if self.no_build {
            builder::already_built()
        } else {
            builder::build(if self.release { Profile::Release } else { Profile::Dev }).await
        }
    }

    /// What the host has to know; `extra` is what it serves besides the functions.
    #[must_use]
    pub fn options(&self, home: &Home, binaries: PathBuf, operator_key: &str, extra: Router) -> Options {
        let storage = match home {
            Home::Memory => Storage::Memory,
            Home::Folder(path) => Storage::Dir(path.clone()),
        };
        Options {
            port: self.port,
            storage,
            template: self.template.clone().unwrap_or_else(|| builder::workspace().join("template.yaml")),
            parameters: self.parameters(operator_key),
            binaries,
            extra,
            log: if self.verbose { LogSink::Stderr } else { LogSink::Problems },
        }
    }

    /// What differs from a stack on AWS: receivers on this machine may be called, over plain http.
    fn parameters(&self, operator_key: &str) -> BTreeMap<String, String> {
        let local = [
            ("OperatorKeySha256", home::sha256_hex(operator_key)),
            ("AllowHttpTargets", "true".to_owned()),
            ("AllowedPrivateTargets", PRIVATE_TARGETS.to_owned()),
            ("LogLevel", self.log_level.clone()),
        ];
        let local = local.map(|(name, value)| (name.to_owned(), value));
        local.into_iter().chain(self.parameters.iter().cloned()).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(line.split(' '))
    }

    #[test]
    fn a_parameter_on_the_line_wins_over_the_local_one() {
        let line = "switchboard --parameter AllowedPrivateTargets= --parameter X=a=b --log-level DEBUG";
        let parameters = parsed(line).unwrap().parameters("key");
        let value = |name: &str| parameters.get(name).map(String::as_str);
        assert_eq!(value("AllowedPrivateTargets"), Some(""));
        assert_eq!(value("X"), Some("a=b"));
        assert_eq!(value("LogLevel"), Some("DEBUG"));
        assert_eq!(value("AllowHttpTargets"), Some("true"));
    }

    #[test]
    fn the_levels_are_those_of_the_template_in_any_case() {
        let parser = level();
        let levels = parser.possible_values().unwrap().map(|level| level.get_name().to_owned());
        let allowed = format!("AllowedValues: [{}]", levels.collect::<Vec<_>>().join(", "));
        let template = std::fs::read_to_string(builder::workspace().join("template.yaml")).unwrap();
        let (_, declared) = template.split_once("\n  LogLevel:\n").unwrap();
        assert!(declared.lines().take(3).any(|line| line.trim() == allowed), "{allowed}");
        assert_eq!(parsed("switchboard --log-level debug").unwrap().log_level, "DEBUG");
    }

    #[test]
    fn contradictions_are_refused() {
        for line in ["--memory --data x", "--no-build --release", "--parameter x", "--port 70000", "--log-level WARN"] {
            assert!(parsed(&format!("switchboard {line}")).is_err(), "{line}");
        }
    }
}
