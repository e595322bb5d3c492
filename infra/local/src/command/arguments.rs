//! The command-line arguments of `switchboard`, and the host options derived from them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cargo_build::{self, CargoProfile};
use crate::file_store::{self, FileStore};
use crate::{HostStorage, LogSink, Options, random_and_digest};

/// The host sends no e-mail, so the domain need not exist.
const LOCAL_MAIL_DOMAIN: &str = "mail.localhost";
/// The private networks that functions may call by default: only this machine.
pub(crate) const LOOPBACK_NETWORKS: &str = "127.0.0.0/8,::1/128";

/// Runs the whole service on this machine, without AWS.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version)]
pub struct Arguments {
    /// Port to serve on; 0 selects a free port
    #[arg(long, default_value_t = 3000)]
    port: u16,
    /// Folder for all data that persists between runs [default: .switchboard in the workspace]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Start without data and discard all data at the end
    #[arg(long, conflicts_with = "data")]
    memory: bool,
    /// Write addresses and keys to this JSON file once all functions can be called
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// SAM template to serve [default: template.yaml in the workspace]
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Set a template parameter; can be repeated
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parse_parameter)]
    parameters: Vec<(String, String)>,
    /// Delay that is added to each request to the tables and queues, such as 5ms
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse_milliseconds)]
    store_latency: Duration,
    /// Log level for the functions
    #[arg(long, value_name = "LEVEL", default_value = "INFO", ignore_case = true, value_parser = log_level_parser())]
    log_level: String,
    /// Print all log lines from the functions, not only warnings and errors
    #[arg(long)]
    verbose: bool,
    /// Serve the existing binaries without building
    #[arg(long, conflicts_with = "release")]
    no_build: bool,
    /// Build the functions with the release profile, as for deployment
    #[arg(long)]
    release: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("expected NAME=VALUE")]
struct InvalidParameter;

fn parse_parameter(text: &str) -> Result<(String, String), InvalidParameter> {
    let (name, value) = text.split_once('=').ok_or(InvalidParameter)?;
    Ok((name.to_owned(), value.to_owned()))
}

#[derive(Debug, thiserror::Error)]
#[error("expected a whole number of milliseconds such as 5ms")]
struct InvalidMilliseconds;

fn parse_milliseconds(text: &str) -> Result<Duration, InvalidMilliseconds> {
    let number = text.strip_suffix("ms").ok_or(InvalidMilliseconds)?;
    Ok(Duration::from_millis(number.parse().map_err(|_| InvalidMilliseconds)?))
}

/// Accepts the values of the template's `LogLevel` parameter and converts them to upper case.
fn log_level_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(["TRACE", "DEBUG", "INFO"]).map(|level| level.to_ascii_uppercase())
}

impl Arguments {
    pub fn open_file_store(&self) -> Result<FileStore, file_store::Error> {
        if self.memory {
            return Ok(FileStore::Memory);
        }
        let default = || cargo_build::workspace_root().join(".switchboard");
        FileStore::open(self.data.clone().unwrap_or_else(default))
    }

    /// Builds the functions, unless `--no-build` is set, and returns the folder of their binaries.
    pub async fn build_functions(&self) -> Result<PathBuf, cargo_build::Error> {
        if self.no_build {
            cargo_build::existing_binaries()
        } else {
            cargo_build::build(if self.release { CargoProfile::Release } else { CargoProfile::Dev }, &[]).await
        }
    }

    /// Returns the options for a host that serves `extra_routes` in addition to the functions.
    #[must_use]
    pub fn options(
        &self,
        file_store: &FileStore,
        binaries: PathBuf,
        operator_key: &str,
        extra_routes: Router,
    ) -> Options {
        let storage = match file_store {
            FileStore::Memory => HostStorage::Memory,
            FileStore::Folder(path) => HostStorage::Dir(path.clone()),
        };
        Options {
            port: self.port,
            storage,
            template: self.template.clone().unwrap_or_else(|| cargo_build::workspace_root().join("template.yaml")),
            parameters: self.template_parameters(operator_key),
            binaries,
            store_latency: self.store_latency,
            extra_routes,
            log: if self.verbose { LogSink::Stderr } else { LogSink::WarningsOnly },
        }
    }

    /// Returns the template parameters. By default, they let functions call receivers on this machine and over plain
    /// HTTP, neither of which a stack on AWS allows by default. Parameters on the command line take precedence.
    fn template_parameters(&self, operator_key: &str) -> BTreeMap<String, String> {
        let local = [
            ("OperatorKeySha256", random_and_digest::sha256_hex(operator_key)),
            ("AllowHttpTargets", "true".to_owned()),
            ("AllowedPrivateTargets", LOOPBACK_NETWORKS.to_owned()),
            ("LogLevel", self.log_level.clone()),
            ("MailDomain", LOCAL_MAIL_DOMAIN.to_owned()),
        ];
        let local = local.map(|(name, value)| (name.to_owned(), value));
        local.into_iter().chain(self.parameters.iter().cloned()).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(line.split(' '))
    }

    #[test]
    fn command_line_parameter_overrides_local_default() {
        let line = "switchboard --parameter AllowedPrivateTargets= --parameter X=a=b --log-level DEBUG";
        let parameters = parse(line).unwrap().template_parameters("key");
        let value = |name: &str| parameters.get(name).map(String::as_str);
        assert_eq!(value("AllowedPrivateTargets"), Some(""));
        assert_eq!(value("X"), Some("a=b"));
        assert_eq!(value("LogLevel"), Some("DEBUG"));
        assert_eq!(value("AllowHttpTargets"), Some("true"));
    }

    #[test]
    fn store_latency_is_a_number_of_milliseconds() {
        let latency = |line: &str| parse(line).unwrap().store_latency;
        assert_eq!(latency("switchboard --store-latency 5ms"), Duration::from_millis(5));
        assert_eq!(latency("switchboard"), Duration::ZERO);
    }

    #[test]
    fn log_levels_equal_those_of_the_template() {
        let parser = log_level_parser();
        let levels = parser.possible_values().unwrap().map(|level| level.get_name().to_owned());
        let allowed = format!("AllowedValues: [{}]", levels.collect::<Vec<_>>().join(", "));
        let template = std::fs::read_to_string(cargo_build::workspace_root().join("template.yaml")).unwrap();
        let (_, declared) = template.split_once("\n  LogLevel:\n").unwrap();
        assert!(declared.lines().take(3).any(|line| line.trim() == allowed), "{allowed}");
        assert_eq!(parse("switchboard --log-level debug").unwrap().log_level, "DEBUG");
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        for line in [
            "--memory --data x",
            "--no-build --release",
            "--parameter x",
            "--port 70000",
            "--log-level WARN",
            "--store-latency 5",
        ] {
            assert!(parse(&format!("switchboard {line}")).is_err(), "{line}");
        }
    }
}
